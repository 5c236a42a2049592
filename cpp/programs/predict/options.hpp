// Command-line options of tanager-predict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tanager::predict {

/// Invalid command line.
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
  std::optional<std::vector<std::string>> missing;  // none: the default markers
  char delimiter = ',';
  std::optional<std::string> unseen;       // none: the setting of the model
  int threads = 0;                         // 0: one per CPU
  std::optional<std::uint64_t> max_cells;  // none: the default limit of exact inference
  /// Bytes read at a time: a few thousand rows amortize the overhead per block and fit the cache of a core. Not a
  /// command-line option.
  std::size_t block_size = std::size_t{1} << 18;
};

/// Throws UsageError.
Options parse_options(const std::vector<std::string_view>& arguments);

std::string help_text();

}  // namespace tanager::predict
