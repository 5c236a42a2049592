#!/usr/bin/env bash
# The extension module under the thread sanitizer: tests/faults/mixed_load.py on several threads.
#
#     tests/faults/tsan_extension.sh [PYTHON [TOOLS [FOLDER [SECONDS]]]]
#
# PYTHON has what tanager needs; tanager itself is taken from the source tree. TOOLS is a Python of the same version with
# pybind11, cmake and ninja (the same one if not given). FOLDER may have been built with -DTANAGER_SANITIZE=thread before:
# then only the bindings are compiled. Ends with an error if the sanitizer reports anything, or if a result differs.
set -euo pipefail
cd "$(dirname "$0")/../.."

python=$(realpath --no-symlinks "${1:-.venv/bin/python}")
tools=$(realpath --no-symlinks "${2:-$python}")
folder=$(realpath --canonicalize-missing "${3:-build/tsan-extension}")
seconds=${4:-20}

cmake() { "$tools" -c 'import sys, cmake; sys.exit(cmake.cmake())' "$@"; }

options=(-DTANAGER_BUILD_PYTHON=ON -DPython_EXECUTABLE="$python" -Dpybind11_DIR="$("$tools" -m pybind11 --cmakedir)"
  -DCMAKE_MAKE_PROGRAM="$("$tools" -c 'import ninja; print(ninja.BIN_DIR)')/ninja")
if ! [ -f "$folder/CMakeCache.txt" ]; then
  options+=(-DTANAGER_SANITIZE=thread -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g1")
fi
mkdir -p "$folder"
log=$folder/extension.log
{ cmake -S . -B "$folder" -G Ninja "${options[@]}" && cmake --build "$folder" --target _core; } > "$log" 2>&1 ||
  { cat "$log"; exit 1; }

# The package beside the module that was just built, in the place of an installed one.
rm -rf "$folder/package"
mkdir "$folder/package"
cp -r python/tanager "$folder/package/tanager"
cp "$folder"/python/bindings/_core*.so "$folder/package/tanager/"

# The library of the compiler that built it has to come first, and addresses that are too random do not fit its map.
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$folder/CMakeCache.txt")
plain=()
if setarch --addr-no-randomize true 2> /dev/null; then plain=(setarch --addr-no-randomize); fi
# With the site of an editable tanager that one would be found; the path names what is needed instead.
sites=$("$python" -c 'import site; print(":".join(site.getsitepackages()))')
export PYTHONPATH="$folder/package:$sites" OPENBLAS_NUM_THREADS=1
# Others are not compiled with the sanitizer: what they touch is left out. Names of theirs must not be suppressed, for
# Python stands at the bottom of every stack, those of races of our own included.
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 exitcode=66 ${TSAN_OPTIONS:-}"
LD_PRELOAD=$("$compiler" -print-file-name=libtsan.so) "${plain[@]}" \
  "$python" -S tests/faults/mixed_load.py --seconds "$seconds" --threads 4 --no-memory
