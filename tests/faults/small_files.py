"""Files of at most 1 MB that ask for as much as they can: makes them, uses each in a process of its own, prints figures.

Run by test_small_files.py as a program: imports happen once, and every case is a fork, so that its processor time and peak
memory are its own. Prints one line of JSON per case.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tanager as tg
from tanager.cli import main
from tanager.interop import read_bif, read_xmlbif

MEGABYTE = 1_000_000
#: Nothing may need more; what does is stopped there.
SECONDS, BYTES = 30, 4 << 30


# -- model files


def crc64(data: bytes) -> int:
    """Return the checksum of a model file, CRC-64/XZ."""
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0xC96C5795D7870F42 if value & 1 else 0)
        table.append(value)
    value = 2**64 - 1
    for byte in data:
        value = value >> 8 ^ table[(value ^ byte) & 255]
    return value ^ 2**64 - 1


def numbers(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def text(value: str) -> bytes:
    return numbers(len(value.encode())) + value.encode()


def labels(values: Sequence[str]) -> bytes:
    return numbers(len(values)) + b"".join(b"\3" + text(value) for value in values)


def model(
    classifier: tuple[int, bytes], features: Sequence[Sequence[str]], classes: Sequence[str], **settings: Any
) -> bytes:
    """Return a model file; features are named f0, f1, ..."""
    named = b"".join(b"\0" + text(f"f{i}") + labels(values) for i, values in enumerate(features))
    told = {
        "estimator": "BayesNetClassifier",
        "params": {},
        "class_name": "c",
        "named_features": True,
        "class_type": "|O",
        "category_types": ["|O"] * len(features),
        "declared": [""] * len(features),
        **settings,
    }
    written = json.dumps(told, separators=(",", ":")).encode()
    sections = [classifier, (2, named), (3, labels(classes)), (4, written)]
    body = b"".join(struct.pack("<IQ", tag, len(payload)) + payload for tag, payload in sections)
    head = b"\x89TNG\r\n\x1a\n" + struct.pack("<IQ", 4, 28 + len(body))
    return head + body + struct.pack("<Q", crc64(head + body))


def network(cardinalities: Sequence[int], parents: Sequence[Sequence[int]], n_classes: int = 1) -> tuple[int, bytes]:
    """Return a network of even distributions."""
    payload = numbers(n_classes, len(cardinalities)) + np.full(n_classes, 1 / n_classes).tobytes()
    payload += numbers(*cardinalities) + b"".join(numbers(len(p), *p) for p in parents)
    for size, of in zip(cardinalities, parents, strict=True):
        payload += np.full(size * n_classes * int(np.prod([cardinalities[p] for p in of])), 1 / size).tobytes()
    return 1, payload


def models() -> Iterator[tuple[str, bytes]]:
    n = 14_000
    chain: list[list[int]] = [[], *([i] for i in range(n - 1))]
    yield "a model of many features", model(network([1] * n, [[]] * n), [[]] * n, ["a"])
    yield "a model of a long chain", model(network([1] * n, chain), [[]] * n, ["a"])
    yield "a model of many classes", model(network([1], [[]], 40_000), [["x"]], [f"{i:x}" for i in range(40_000)])
    long = [*(str(i) for i in range(2000)), "x" * 800_000]
    settings = {"class_type": f"<U{len(long[-1])}", "category_types": ["<U1"]}
    yield "a model with a long class", model(network([1], [[]], len(long)), [["x"]], long, **settings)
    settings = {"category_types": [f"<U{len(long[-1])}"]}
    yield "a model with a long category", model(network([len(long)], [[]]), [long], ["a"], **settings)
    side = 20
    grid = [[*([i - 1] if i % side else []), *([i - side] if i >= side else [])] for i in range(side * 40)]
    yield "a model that is a grid", model(network([2] * len(grid), grid), [["x", "y"]] * len(grid), ["a"])


# -- networks as text


def bif_texts() -> Iterator[tuple[str, str]]:
    def variable(name: str, parents: Sequence[str] = (), values: str = "x", table: str = "table 1") -> str:
        given = f"|{','.join(parents)}" if parents else ""
        size = values.count(",") + 1
        return f"variable {name}{{type discrete[{size}]{{{values}}}}}probability({name}{given}){{{table};}}\n"

    n = 12_000
    yield "BIF of a cycle", "".join(variable(f"v{i}", [f"v{(i + 1) % n}"]) for i in range(n))
    many = [f"v{i}" for i in range(10_000)]
    yield "BIF of many parents", "".join(map(variable, many)) + variable("c", many, "x,y", "table .5,.5")
    names = [f"v{i}" for i in range(20)]
    halves = [variable(name, [], "x,y", "table .5,.5") for name in names]
    halves += [variable(f"w{i}", names, "x,y", "default .5,.5") for i in range(1000)]
    yield "BIF of default lines", "".join(halves)
    values = [f"l{i}" for i in range(30_000)]
    rows = ";".join(f"({value}) 1" for value in values)
    table = f"table 1,{','.join('0' * (len(values) - 1))}"
    yield "BIF of many rows", variable("a", [], ",".join(values), table) + variable("c", ["a"], "x", rows)
    commas = '"' + "a," * 200_000 + '"'
    yield (
        "BIF of a long value",
        (
            f"variable a{{type discrete[1]{{{commas}}}}}probability(a){{table 1;}}"
            + variable("c", ["a"], "x", f"({'b,' * 250_000}) 1")
        ),
    )


def xml_texts() -> Iterator[tuple[str, str]]:
    def variable(name: str, parents: Sequence[str] = ()) -> str:
        given = "".join(f"<GIVEN>{p}</GIVEN>" for p in parents)
        declared = f"<VARIABLE><NAME>{name}</NAME><OUTCOME>x</OUTCOME></VARIABLE>"
        return f"{declared}<DEFINITION><FOR>{name}</FOR>{given}<TABLE>1</TABLE></DEFINITION>"

    n = 6000
    cycle = "".join(variable(f"v{i}", [f"v{(i + 1) % n}"]) for i in range(n))
    yield "XMLBIF of a cycle", f"<BIF><NETWORK>{cycle}</NETWORK></BIF>"
    many = [f"v{i}" for i in range(6000)]
    body = "".join(map(variable, many)) + variable("c", many)
    yield "XMLBIF of many parents", f"<BIF><NETWORK>{body}</NETWORK></BIF>"
    attributes = "".join(f"a{i} CDATA 'x' " for i in range(20_000))
    yield "XMLBIF of many attributes", f"<!DOCTYPE BIF [<!ATTLIST A {attributes}>]><BIF>{'<A/>' * 130_000}"


# -- tables


def tables() -> Iterator[tuple[str, str]]:
    columns = 32_000
    wide = ",".join(f"x{i}" for i in range(columns)) + ",c\n"
    yield "a table of many columns", wide + "".join("0," * columns + f"{c}\n" for c in "pqpq")
    yield "a table of too many columns", "," * 480_000 + "c\n" + "," * 480_000 + "p\n"
    yield "a table after empty lines", "\n" * 900_000 + "a,c\n1,p\n2,q\n"
    yield "a table with an open quote", '"' + "x\n" * 490_000
    few = "".join(f"{i % 7},p{i % 3}\n" for i in range(60_000))
    yield "a table with a long class", f"a,c\n1,{'x' * 500_000}\n{few}"
    yield "a table with a long category", f"a,c\n{'x' * 500_000},p\n{few}"
    yield "a table of one column", "c\n" + "p\n" * 490_000
    yield "a table of distinct values", "a,c\n" + "".join(f"{i:x}z,{'pq'[i % 2]}\n" for i in range(60_000))
    yield "a table of too many values", "a,c\n" + "".join(f"{i:x}z,{'pq'[i % 2]}\n" for i in range(90_000))
    yield "a table of distinct classes", "a,c\n" + "".join(f"{i % 2},{i:x}z\n" for i in range(60_000))
    yield "a table of distinct pairs", "a,c\n" + "".join(f"{i:x}y,{i:x}z\n" for i in range(50_000))


# -- running


def measured(name: str, use: Callable[[], object]) -> None:
    """Use a file in a fork, and print what that took."""
    sys.stdout.flush()
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        try:
            found = str(use())
        except BaseException as error:  # noqa: BLE001  # whatever it is, it is the result
            found = f"{type(error).__name__}: {error}"
        os.write(write_end, found[-300:].encode("utf-8", "replace"))
        os._exit(0)
    os.close(write_end)
    _, status, used = os.wait4(child, 0)
    found = os.read(read_end, 2000).decode("utf-8", "replace")
    os.close(read_end)
    figures = {"seconds": used.ru_utime + used.ru_stime, "megabytes": used.ru_maxrss / 1024}
    print(json.dumps({"case": name, "status": status, **figures, "found": found}))


def predicted(path: Path) -> str:
    """Load a model, and predict a row of which only the last feature is known."""
    clf = tg.load(path)
    names = clf.feature_names_in_
    row = pd.DataFrame([[*[None] * (len(names) - 1), "x"]], columns=names, dtype=object)
    return str(clf.predict_proba(row).shape)


def command(*arguments: object) -> str:
    """Run a command, and return the end of what it says."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        code = main(list(map(str, arguments)))
    return f"{code}: {told.getvalue().strip()[-250:]}"


def program(*arguments: object) -> str:
    """Run tanager-predict; what it needs counts as ours."""
    done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, errors="replace", check=False)
    return f"{done.returncode}: {done.stderr.strip()[-250:]}"


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert path.stat().st_size <= MEGABYTE, name
    return path


def run_all(folder: Path, native: str) -> None:
    # What is imported late must not be counted in every case.
    small = write(folder, "small.csv", "a,b,c\n" + "1,x,p\n2.5,y,q\n" * 20)
    model_path = folder / "small.tng"
    command("fit", small, "--class", "c", "-o", model_path)
    command("predict", model_path, small)
    command("cv", small, "--class", "c")
    tg.load(model_path).predict(pd.DataFrame({"a": [1.0], "b": ["x"]}))

    for name, content in models():
        path = write(folder, "model.tng", content)
        measured(name, lambda path=path: predicted(path))
        if native:
            measured(f"{name}, tanager-predict", lambda path=path: program(native, "--threads", 1, path, small))
    for name, content in bif_texts():
        path = write(folder, "network.bif", content)
        measured(name, lambda path=path: read_bif(path, "c" if "variable c" in path.read_text() else "v0"))
    for name, content in xml_texts():
        path = write(folder, "network.xml", content)
        measured(name, lambda path=path: read_xmlbif(path, "v0"))
    for name, content in tables():
        path, saved = write(folder, "table.csv", content), folder / "table.tng"
        saved.unlink(missing_ok=True)
        measured(f"{name}, fit", lambda path=path, saved=saved: command("fit", path, "--class", "c", "-o", saved))
        if saved.exists():
            out = folder / "out.csv"
            # A prediction writes a probability per row and class: of distinct classes, too many for any program.
            if "classes" in name:
                write(folder, "table.csv", "".join(content.splitlines(keepends=True)[:50]))
            measured(
                f"{name}, predict", lambda path=path, saved=saved, out=out: command("predict", saved, path, "-o", out)
            )
            if native:
                measured(
                    f"{name}, tanager-predict",
                    lambda path=path, saved=saved, out=out: program(native, "-o", out, saved, path),
                )


if __name__ == "__main__":
    run_all(Path(sys.argv[1]), sys.argv[2])
