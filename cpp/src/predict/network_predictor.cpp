#include "tanager/network_predictor.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "predict/lookup_kernels.hpp"
#include "predict/lookup_tables.hpp"
#include "support/lazy.hpp"
#include "support/parallel.hpp"
#include "support/text.hpp"
#include "tanager/errors.hpp"
#include "tanager/inference.hpp"

namespace tanager {

using namespace internal;

struct NetworkPredictor::Tables {
  Tables(const Network& network, std::uint64_t max_cells)
      : cardinalities(network.cardinalities().begin(), network.cardinalities().end()),
        logs(InferenceTables(family_tables(network)).logs),
        lookup(build_lookup_tables(network, logs)),
        inference(network.structure(), cardinalities, network.n_classes(), max_cells) {}

  /// Only rows with missing features need these: made for the first of them. Search has logarithms only, and its rows
  /// must get the same bits.
  const InferenceTables& families() const {
    return made_families.get([this] {
      InferenceTables made = InferenceTables::from_logs(logs);
      logs = {};  // they are in there
      return made;
    });
  }

  std::vector<std::uint32_t> cardinalities;
  mutable FamilyTables logs;  // until the others are made
  LookupTables lookup;
  Inference inference;
  Lazy<InferenceTables> made_families;
};

namespace {

constexpr std::size_t kRowsPerTask = 16 * kMaxBlockRows;

void check_codes(std::span<const Code> row, std::span<const std::uint32_t> cardinalities) {
  for (std::size_t f = 0; f < row.size(); ++f)
    if (row[f] != kMissing && row[f] >= cardinalities[f])
      throw InvalidInput(
          join_text("feature ", f, " has code ", row[f], ", but ", cardinalities[f], " values are known"));
}

std::uint32_t best_class(const double* joint, std::size_t n_classes) {
  return static_cast<std::uint32_t>(std::max_element(joint, joint + n_classes) - joint);
}

/// Gives blocks of a batch as columns: those of the batch, or rows turned into columns.
class BlockLoader {
 public:
  BlockLoader(const CodeBatch& batch, std::size_t n_features) : batch_(batch), columns_(n_features) {}

  /// The columns of a block, and the row that it starts at in them.
  std::pair<std::span<const CodeColumn>, std::size_t> load(std::size_t first, std::size_t n_rows) {
    if (const auto* columns = std::get_if<std::span<const CodeColumn>>(&batch_.codes)) return {*columns, first};
    if (const auto* rows = std::get_if<std::span<const Code>>(&batch_.codes))
      transpose(rows->data() + first * columns_.size(), n_rows, wide_);
    else
      transpose(std::get<std::span<const std::uint8_t>>(batch_.codes).data() + first * columns_.size(), n_rows,
                narrow_);
    return {columns_, 0};
  }

 private:
  template <class T>
  void transpose(const T* rows, std::size_t n_rows, std::vector<T>& codes) {
    const std::size_t n = columns_.size();
    codes.resize(n * kMaxBlockRows);
    for (std::size_t f = 0; f < n; ++f) columns_[f] = CodeColumn(codes.data() + f * kMaxBlockRows);
    // Tiles of 32 rows: they and the column ends they are written to stay in the first-level cache.
    for (std::size_t first = 0; first < n_rows; first += 32) {
      const std::size_t last = std::min(n_rows, first + 32);
      for (std::size_t f = 0; f < n; ++f)
        for (std::size_t row = first; row < last; ++row) codes[f * kMaxBlockRows + row] = rows[row * n + f];
    }
  }

  const CodeBatch& batch_;
  std::vector<CodeColumn> columns_;
  std::vector<Code> wide_;
  std::vector<std::uint8_t> narrow_;
};

struct NetworkBuffers : Predictor::Scratch::Buffers {
  Inference::Workspace work;
};

/// Buffers of one thread for rows with missing features.
struct IncompleteRows {
  Inference::Workspace work;
  std::vector<std::size_t> rows;  // in the block
  std::vector<Code> codes;        // [row][feature]

  void load(std::span<const CodeColumn> columns, std::size_t first) {
    codes.resize(rows.size() * columns.size());
    for (std::size_t f = 0; f < columns.size(); ++f) {
      Code* to = codes.data() + f;
      const auto copy = [&](const auto* column, auto missing) {
        for (const std::size_t row : rows) {
          *to = column[first + row] == missing ? kMissing : column[first + row];
          to += columns.size();
        }
      };
      if (columns[f].wide)
        copy(static_cast<const std::uint16_t*>(columns[f].codes), kMissing);
      else
        copy(static_cast<const std::uint8_t*>(columns[f].codes), kMissing8);
    }
  }
};

/// Log-joints of a block; rows with missing features are done one by one.
template <class T>
void complete_block(const T& tables, std::span<const CodeColumn> columns, std::size_t first, std::size_t rows,
                    double* joint, IncompleteRows& incomplete) {
  std::uint8_t marks[kMaxBlockRows];
  const std::size_t n_classes = tables.lookup.n_classes, n = columns.size();
  log_joint_block(tables.lookup, tables.cardinalities, columns, first, rows, joint, marks, best_isa());
  incomplete.rows.clear();
  for (std::size_t i = 0; i < rows; ++i)
    if (marks[i]) incomplete.rows.push_back(i);
  if (incomplete.rows.empty()) return;
  incomplete.load(columns, first);
  for (std::size_t i = 0; i < incomplete.rows.size(); ++i) {
    const std::span<const Code> row(incomplete.codes.data() + i * n, n);
    check_codes(row, tables.cardinalities);
    tables.inference.log_evidence(tables.families(), row, incomplete.work,
                                  {joint + incomplete.rows[i] * n_classes, n_classes});
  }
}

/// Goes through rows in blocks on several threads; `take(first, rows, joint)` receives the log-joints.
template <class T, class Take>
void for_each_block(const T& tables, const CodeBatch& batch, int threads, Take take) {
  const std::size_t step = block_rows(tables.lookup.padded_classes);
  parallel_for(batch.n_rows, kRowsPerTask, threads, [&](std::size_t begin, std::size_t end) {
    BlockLoader loader(batch, tables.cardinalities.size());
    IncompleteRows incomplete;
    std::vector<double> joint(step * tables.lookup.n_classes);
    for (std::size_t first = begin; first < end; first += step) {
      const std::size_t rows = std::min(step, end - first);
      const auto [columns, offset] = loader.load(first, rows);
      complete_block(tables, columns, offset, rows, joint.data(), incomplete);
      take(first, rows, joint.data());
    }
  });
}

}  // namespace

NetworkPredictor::NetworkPredictor(const Network& network, std::uint64_t max_cells)
    : tables_(std::make_unique<const Tables>(network, max_cells)) {}
NetworkPredictor::~NetworkPredictor() = default;
NetworkPredictor::NetworkPredictor(NetworkPredictor&&) noexcept = default;
NetworkPredictor& NetworkPredictor::operator=(NetworkPredictor&&) noexcept = default;

std::size_t NetworkPredictor::n_features() const {
  return tables_->cardinalities.size();
}

std::uint32_t NetworkPredictor::n_classes() const {
  return tables_->lookup.n_classes;
}

std::uint32_t NetworkPredictor::run_row(std::span<const Code> row, Output output, std::span<double> out,
                                        Scratch& scratch) const {
  const LookupTables& lookup = tables_->lookup;
  const std::uint32_t n_classes = lookup.n_classes, width = lookup.padded_classes;
  bool complete = true;
  for (const std::size_t f : lookup.features) complete &= row[f] < tables_->cardinalities[f];
  if (complete) {
    std::copy_n(lookup.prior.begin(), n_classes, out.begin());
    for (const LookupGroup& group : lookup.groups) {
      std::size_t index = 0;
      for (const auto& member : group.members) index += std::size_t{row[member.feature]} * member.stride;
      const double* term = lookup.cells.data() + group.offset + index * width;
      for (std::uint32_t c = 0; c < n_classes; ++c) out[c] += term[c];
    }
  } else {
    check_codes(row, tables_->cardinalities);
    tables_->inference.log_evidence(tables_->families(), row, buffers_in<NetworkBuffers>(scratch).work, out);
  }
  const std::uint32_t best = best_class(out.data(), n_classes);
  finish_block(out.data(), 1, n_classes, output, best_isa());
  return best;
}

void NetworkPredictor::run(const CodeBatch& batch, Output output, std::span<double> out, int threads) const {
  const std::uint32_t n_classes = this->n_classes();
  for_each_block(*tables_, batch, threads, [&](std::size_t first, std::size_t rows, double* joint) {
    finish_block(joint, rows, n_classes, output, best_isa());
    std::copy_n(joint, rows * n_classes, out.data() + first * n_classes);
  });
}

void NetworkPredictor::run_classes(const CodeBatch& batch, std::span<std::uint32_t> out, int threads) const {
  const std::uint32_t n_classes = this->n_classes();
  for_each_block(*tables_, batch, threads, [&](std::size_t first, std::size_t rows, const double* joint) {
    for (std::size_t i = 0; i < rows; ++i) out[first + i] = best_class(joint + i * n_classes, n_classes);
  });
}

}  // namespace tanager
