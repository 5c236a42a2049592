// What the user asks of tanager-predict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tanager::predict {

/// The command line is wrong; the message says what was expected.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Task { kPredict, kHelp, kVersion };

struct Options {
  Task task = Task::kPredict;
  std::string model;
  std::string input = "-";   // "-" is standard input
  std::string output = "-";  // "-" is standard output
  std::vector<std::string> keep;
  bool keep_all = false;
  bool probabilities = true;
  std::optional<std::vector<std::string>> missing;  // none: the usual markers
  char delimiter = ',';
  std::optional<std::string> unseen;       // none: as the model was set
  int threads = 0;                         // 0: all the machine has
  std::optional<std::uint64_t> max_cells;  // none: the library's own limit of exact inference
  /// Bytes read at a time: some thousand rows make starting on a block cheap, and stay in a core's own cache. No
  /// option of the command line.
  std::size_t block_size = std::size_t{1} << 18;
};

/// Throws UsageError.
Options parse_options(const std::vector<std::string_view>& arguments);

std::string help_text();

}  // namespace tanager::predict
