// Files where there is no POSIX, through the standard library alone. Replacing is as safe against failures of writing;
// only the loss of power right after saving is left to the operating system.
#include "model_file/file.hpp"

#if !TANAGER_POSIX_FILES

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <system_error>

#include "tanager/errors.hpp"

namespace tanager::internal {
namespace {

using enum ModelFileProblem;

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::error_code& error) {
  const bool absent = error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  const bool denied = error == std::errc::permission_denied || error == std::errc::operation_not_permitted;
  throw ModelFileError(absent ? kNotFound : denied ? kNoPermission : kOther, error.message());
}

/// Paths are UTF-8, whatever the system's own encoding.
fs::path to_path(const std::string& path) {
  return fs::path(std::u8string(path.begin(), path.end()));
}

/// What a path names after symbolic links, with its status if there is such a file already.
struct Target {
  fs::path path;
  fs::path folder;
  fs::file_status status;
};

Target find_target(const std::string& path) {
  fs::path target = to_path(path);
  std::error_code error;
  if (fs::is_symlink(target, error)) {
    target = fs::weakly_canonical(target, error);
    if (error) fail(error);
  }
  const fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status)) throw ModelFileError(kNotAModel, "it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw ModelFileError(kNotAModel, "it is a device or pipe, not a regular file");
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error))
    throw ModelFileError(kNotFound, "the folder '" + folder.string() + "' does not exist");
  return {target, folder, status};
}

std::string passing_name() {
  const auto now = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  const std::uint64_t chance = (std::uint64_t{std::random_device{}()} << 32) ^ now;
  return ".tanager-" + std::to_string(chance) + ".tmp";
}

}  // namespace

struct InputFile::Handle {
  std::ifstream stream;
  std::uint64_t size = 0;
};

InputFile::InputFile(const std::string& path) : handle_(new Handle) {
  const fs::path file = to_path(path);
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) throw ModelFileError(kNotFound, "there is no such file");
  if (error) fail(error);
  if (fs::is_directory(status)) throw ModelFileError(kNotAModel, "it is a folder");
  if (!fs::is_regular_file(status)) throw ModelFileError(kNotAModel, "it is a device or pipe, not a regular file");
  handle_->size = fs::file_size(file, error);
  if (error) fail(error);
  handle_->stream.open(file, std::ios::binary);
  if (!handle_->stream) throw ModelFileError(kNoPermission, "it cannot be opened for reading");
}

InputFile::~InputFile() = default;

std::uint64_t InputFile::size() const {
  return handle_->size;
}

void InputFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  std::ifstream& stream = handle_->stream;
  stream.seekg(static_cast<std::streamoff>(offset));
  stream.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
  if (!stream) throw ModelFileError(kDamaged, "it became shorter while it was read, or reading failed");
}

struct OutputFile::State {
  Target target;
  fs::path passing;
  std::string passing_text;
  std::ofstream stream;
};

OutputFile::OutputFile(const std::string& path) : state_(new State) {
  state_->target = find_target(path);
  state_->passing = state_->target.folder / passing_name();
  state_->passing_text = state_->passing.string();
  state_->stream.open(state_->passing, std::ios::binary | std::ios::trunc);
  if (!state_->stream) throw ModelFileError(kNoPermission, "no file can be created in its folder");
}

OutputFile::~OutputFile() {
  state_->stream.close();
  std::error_code ignored;
  if (!state_->passing.empty()) fs::remove(state_->passing, ignored);
}

void OutputFile::write(std::span<const std::byte> content) {
  state_->stream.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  if (!state_->stream) throw ModelFileError(kOther, "writing failed, perhaps because the disk is full");
}

void OutputFile::commit() {
  state_->stream.close();
  if (!state_->stream) throw ModelFileError(kOther, "writing failed, perhaps because the disk is full");
  std::error_code error;
  if (fs::exists(state_->target.status)) fs::permissions(state_->passing, state_->target.status.permissions(), error);
  if (!error) fs::rename(state_->passing, state_->target.path, error);
  if (error) fail(error);
  state_->passing.clear();
  state_->passing_text.clear();
}

const std::string& OutputFile::passing_path() const {
  return state_->passing_text;
}

void replace_file(const std::string& path, std::span<const std::byte> content) {
  OutputFile file(path);
  file.write(content);
  file.commit();
}

}  // namespace tanager::internal

#endif
