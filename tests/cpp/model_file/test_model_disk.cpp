// Model files on disk: replaced atomically, and only regular files are read.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "check.hpp"
#include "model_file/bytes.hpp"
#include "model_file/file.hpp"
#include "model_fixtures.hpp"
#include "tanager/errors.hpp"
#include "tanager/model.hpp"

#if TANAGER_POSIX_FILES
#include <sys/stat.h>
#include <unistd.h>
#endif
#ifdef __linux__
#include <sys/mount.h>
#endif

using namespace fixtures;
namespace fs = std::filesystem;

namespace {

/// A fresh folder, removed with all it holds.
class Folder {
 public:
  Folder() {
    static int number = 0;
    const auto name = "tanager-test-" + std::to_string(std::random_device{}()) + "-" + std::to_string(number++);
    path_ = fs::temp_directory_path() / name;
    fs::create_directory(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::permissions(path_, fs::perms::owner_all, ignored);
    fs::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const fs::path& path() const { return path_; }
  std::size_t n_entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

Bytes file_bytes(const std::string& path) {
  Bytes bytes(fs::file_size(path));
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

/// The problem of the ModelFileError that a call throws.
template <class Call>
std::optional<ModelFileProblem> problem_of(Call call) {
  try {
    call();
  } catch (const ModelFileError& error) {
    return error.problem();
  }
  return {};
}

}  // namespace

TEST(files_are_saved_and_loaded) {
  const Folder folder;
  const std::string path = folder / "größe.tng";
  save_model(small_model(), path);
  check_same(load_model(path), small_model());
  save_model(rich_model(), path);  // replaces
  check_same(load_model(path), rich_model());
  CHECK(file_bytes(path) == write_model(rich_model()));
  CHECK_EQ(folder.n_entries(), 1u);
  save_model(small_model(), folder / std::string(250, 'n'));  // the passing name must not be the longer one
  CHECK_EQ(folder.n_entries(), 2u);
}

TEST(other_files_are_rejected_with_path_and_reason) {
  const Folder folder;
  const auto rejected = [&](const std::string& path, const std::string& part, ModelFileProblem problem) {
    CHECK_THROWS(ModelFileError, load_model(path), part);
    CHECK(problem_of([&] { static_cast<void>(load_model(path)); }) == problem);
    if (path.find('\0') == std::string::npos)
      CHECK_THROWS(ModelFileError, load_model(path), "the model file '" + path + "'");
  };
  rejected(folder / "none.tng", "cannot load the model file", ModelFileProblem::kNotFound);
  rejected(folder.path().string(), "it is a folder", ModelFileProblem::kNotAModel);
  rejected("", "the path is empty", ModelFileProblem::kNotFound);
  rejected(std::string("a\0b", 3), "null character", ModelFileProblem::kOther);
  const std::string path = folder / "bad.tng";
  write_file(path, {});
  rejected(path, "it is empty", ModelFileProblem::kNotAModel);
  write_file(path, as_bytes("hello"));
  rejected(path, "only 5 bytes", ModelFileProblem::kNotAModel);
  Bytes bytes = write_model(small_model());
  write_file(path, std::span(bytes).first(bytes.size() / 2));
  rejected(path, "it is truncated", ModelFileProblem::kDamaged);
  bytes[bytes.size() / 2] ^= std::byte{4};
  write_file(path, bytes);
  rejected(path, "checksum does not match", ModelFileProblem::kDamaged);
}

TEST(a_huge_sparse_file_is_rejected_at_once) {
  const Folder folder;
  const std::string path = folder / "huge.tng";
  constexpr std::uint64_t kSize = std::uint64_t{1} << 40;
  Bytes bytes = write_model(small_model());
  write_file(path, bytes);
  std::error_code error;
  fs::resize_file(path, kSize, error);
  if (error) {
    std::printf("skipped: the file system has no sparse files of 1 TiB (%s)\n", error.message().c_str());
    return;
  }
  CHECK_THROWS(ModelFileError, load_model(path), "should have");
  internal::store_little<std::uint64_t>(kSize, bytes.data() + 12);
  write_file(path, bytes);
  fs::resize_file(path, kSize);
  CHECK_THROWS(ModelFileError, load_model(path), "unknown kind");
}

TEST(a_model_serves_four_threads_at_once) {
  const Folder folder;
  save_model(rich_model(), folder / "m.tng");
  const Model model = load_model(folder / "m.tng");
  constexpr std::size_t kRows = 500;
  std::mt19937 random(3);
  std::vector<Code> rows;
  for (std::size_t i = 0; i < kRows; ++i)
    for (const std::uint32_t r : model.cardinalities())
      rows.push_back(random() % 8 == 0 ? kMissing : static_cast<Code>(random() % r));
  std::vector<double> expected(kRows * model.n_classes());
  model.predict_proba(rows, expected);
  std::vector<std::vector<double>> got(4, std::vector<double>(expected.size()));
  {
    std::vector<std::jthread> threads;
    for (auto& out : got)
      threads.emplace_back([&] {
        for (std::size_t i = 0; i < kRows; ++i) {
          const std::span row(rows.data() + i * model.n_features(), model.n_features());
          model.predictor().predict(row, Output::kPosterior,
                                    std::span(out).subspan(i * model.n_classes(), model.n_classes()));
          static_cast<void>(model.encode("cut", "1.5"));
        }
      });
  }
  for (const auto& out : got) CHECK(same_bits(out, expected));
}

TEST(saving_where_nothing_can_be_written_fails_and_leaves_nothing) {
  const Folder folder;
  CHECK_THROWS(ModelFileError, save_model(small_model(), folder / "no/such/m.tng"), "does not exist");
  CHECK_THROWS(ModelFileError, save_model(small_model(), folder.path().string()), "it is a folder");
  CHECK_THROWS(ModelFileError, save_model(small_model(), ""), "the path is empty");
  const auto save = [](const std::string& path) { return [path] { save_model(small_model(), path); }; };
  CHECK(problem_of(save(folder / "no/such/m.tng")) == ModelFileProblem::kNotFound);
  CHECK(problem_of(save(folder.path().string())) == ModelFileProblem::kNotAModel);
  write_file(folder / "file", as_bytes("x"));
  CHECK_THROWS(ModelFileError, save_model(small_model(), folder / "file/m.tng"), "cannot save the model file");
  CHECK_EQ(folder.n_entries(), 1u);
}

#if TANAGER_POSIX_FILES

TEST(pipes_and_devices_are_neither_read_nor_replaced) {
  const Folder folder;
  const std::string pipe = folder / "pipe";
  CHECK_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  CHECK_THROWS(ModelFileError, load_model(pipe), "not a regular file");
  CHECK_THROWS(ModelFileError, save_model(small_model(), pipe), "not a regular file");
  CHECK_THROWS(ModelFileError, load_model("/dev/zero"), "not a regular file");
  CHECK(fs::is_fifo(pipe));
  CHECK_EQ(folder.n_entries(), 1u);
}

TEST(a_link_stays_a_link_and_permissions_stay) {
  const Folder folder;
  const std::string real = folder / "real.tng", link = folder / "link.tng";
  save_model(rich_model(), real);
  fs::permissions(real, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  fs::create_symlink("real.tng", link);
  save_model(small_model(), link);
  CHECK(fs::is_symlink(link));
  check_same(load_model(real), small_model());
  CHECK(fs::status(real).permissions() == (fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read));
  CHECK_EQ(folder.n_entries(), 2u);
}

/// Runs body as an ordinary user where the test runs as root, whom permissions do not stop.
template <class Body>
void as_ordinary_user(Body body) {
  constexpr uid_t kNobody = 65534;
  const bool is_root = ::geteuid() == 0;
  if (is_root && ::seteuid(kNobody) != 0) {
    std::printf("skipped: root without the right to become another user\n");
    return;
  }
  body();
  if (is_root) CHECK_EQ(::seteuid(0), 0);
}

TEST(missing_permissions_are_reported_and_leave_the_old_file) {
  const Folder folder;
  const std::string path = folder / "m.tng";
  save_model(rich_model(), path);
  fs::permissions(folder.path(), static_cast<fs::perms>(0555));
  fs::permissions(path, fs::perms::all);
  as_ordinary_user([&] {
    CHECK_THROWS(ModelFileError, save_model(small_model(), path), "no permission to write in the folder");
    CHECK_THROWS(ModelFileError, save_model(small_model(), folder / "new.tng"), "no permission to write in the folder");
  });
  check_same(load_model(path), rich_model());
  fs::permissions(folder.path(), fs::perms::all);
  fs::permissions(path, fs::perms::owner_read);
  as_ordinary_user([&] { CHECK_THROWS(ModelFileError, save_model(small_model(), path), "Permission denied"); });
  fs::permissions(path, fs::perms::none);
  as_ordinary_user([&] {
    CHECK_THROWS(ModelFileError, load_model(path), "Permission denied");
    CHECK(problem_of([&] { static_cast<void>(load_model(path)); }) == ModelFileProblem::kNoPermission);
  });
  CHECK_EQ(folder.n_entries(), 1u);
}

#endif

#ifdef __linux__

TEST(a_full_disk_is_reported_and_leaves_the_old_file) {
  const Folder folder;
  const std::string disk = folder / "disk";
  fs::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0) {
    std::printf("skipped: mounting a small disk needs root (%s)\n", std::strerror(errno));
    return;
  }
  const std::string path = disk + "/m.tng";
  save_model(small_model(), path);
  const Model large(random_network({{}}, {20000}, 2, 1),
                    {intervals("f",
                               [] {
                                 std::vector<double> cuts(19999);
                                 for (std::size_t i = 0; i < cuts.size(); ++i) cuts[i] = static_cast<double>(i);
                                 return cuts;
                               }())},
                    {true, false});
  CHECK_THROWS(ModelFileError, save_model(large, path), "No space left on device");
  CHECK(problem_of([&] { save_model(large, path); }) == ModelFileProblem::kOther);
  CHECK_THROWS(ModelFileError, save_model(large, disk + "/new.tng"), disk + "/new.tng");
  check_same(load_model(path), small_model());
  CHECK_EQ(std::distance(fs::directory_iterator(disk), fs::directory_iterator()), 1);
  CHECK_EQ(::umount(disk.c_str()), 0);
}

#endif

TEST_MAIN
