// Model files on disk.
#include <algorithm>
#include <memory>
#include <new>

#include "model_file/file.hpp"
#include "model_file/format.hpp"
#include "tanager/errors.hpp"

namespace tanager {

using namespace internal;

namespace {

using enum ModelFileProblem;

void check_path(const std::string& path) {
  if (path.empty()) throw ModelFileError(kNotFound, "the path is empty");
  // The operating system would silently take the part before it.
  if (path.find('\0') != std::string::npos) throw ModelFileError(kOther, "the path contains a null character");
}

/// The path for a message, which a null character would end.
std::string shown(std::string path) {
  std::replace(path.begin(), path.end(), '\0', '?');
  return "the model file '" + path + "'";
}

/// Calls body; a failure's message becomes one sentence with the path in it.
template <class Body>
auto with_path(const char* cannot, const std::string& path, Body body) {
  try {
    check_path(path);
    return body();
  } catch (const std::bad_alloc&) {
    throw ModelFileError(kNoMemory, cannot + shown(path) + ": there is not enough memory");
  } catch (const ModelFileError& error) {
    throw ModelFileError(error.problem(), cannot + shown(path) + ": " + error.what());
  }
}

}  // namespace

Model load_model(const std::string& path) {
  return with_path("cannot load ", path, [&] {
    const internal::InputFile file(path);
    // The frame is looked at first: a file that is no model, however large, costs no memory.
    internal::read_section_table(file.size(),
                                 [&](std::uint64_t offset, std::span<std::byte> out) { file.read(offset, out); });
    const auto size = static_cast<std::size_t>(file.size());
    const auto content = std::make_unique_for_overwrite<std::byte[]>(size);
    const std::span<std::byte> bytes(content.get(), size);
    file.read(0, bytes);
    return internal::parse_model(bytes);
  });
}

void save_model(const Model& model, const std::string& path) {
  with_path("cannot save ", path, [&] { internal::replace_file(path, write_model(model)); });
}

}  // namespace tanager
