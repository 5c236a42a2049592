// Predictions of networks, the class anywhere and features left out, against products of their tables.
#include <vector>

#include "predict/lookup_kernels.hpp"
#include "predict/lookup_tables.hpp"
#include "predictions.hpp"
#include "tanager/inference.hpp"
#include "tanager/network_predictor.hpp"

const int fuzz::kShortRuns = 4000;
const std::size_t fuzz::kMaxLength = 192;

namespace {

using namespace tanager;
using namespace tanager::internal;

/// Every instruction set gives the same bits for a block of rows, and marks the same ones as incomplete.
void check_instruction_sets(fuzz::Input& input, const Network& network) {
  const LookupTables tables = build_lookup_tables(network, InferenceTables(family_tables(network)).logs);
  const std::size_t rows = input.size(1, 40), s = network.n_classes();
  std::mt19937_64 random = input.random();
  std::vector<std::vector<Code>> codes(network.n_features(), std::vector<Code>(rows));
  std::vector<CodeColumn> columns;
  for (std::size_t f = 0; f < codes.size(); ++f) {
    for (Code& code : codes[f])
      code = random() % 16 == 0 ? kMissing : static_cast<Code>(random() % network.cardinalities()[f]);
    columns.emplace_back(codes[f].data());
  }
  std::vector<double> first;
  std::vector<std::uint8_t> first_marks;
  for (int level = 0; level <= static_cast<int>(supported_isa()); ++level) {
    std::vector<double> joint(rows * s, -7.0);
    std::vector<std::uint8_t> marks(rows);
    log_joint_block(tables, network.cardinalities(), columns, 0, rows, joint.data(), marks.data(),
                    static_cast<Isa>(level));
    finish_block(joint.data(), rows, network.n_classes(), Output::kPosterior, static_cast<Isa>(level));
    if (level == 0) {
      first = joint;
      first_marks = marks;
    }
    fuzz::require(marks == first_marks, "marks differ between instruction sets");
    for (std::size_t i = 0; i < joint.size(); ++i)
      if (joint[i] != first[i]) fuzz::require_same(joint[i], first[i], "instruction set " + std::to_string(level));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  fuzz::Input input(bytes, size);
  // The last makes look-ups that 16 bits cannot number.
  const std::size_t most = input.choose<std::size_t>(
      {100, 100, 100, 100, 100, 100, 600, 600, 600, 600, 600, 2000, 2000, 2000, 20'000, 100'000});
  const auto classes = static_cast<std::uint32_t>(input.edge_size(std::min<std::size_t>(most, 1000)));
  const auto cards = fuzz::read_cardinalities(input, input.size(0, 8), classes, most);
  const bool general = input.flag();
  const Structure structure = fuzz::read_structure(input, cards, classes, most, input.size(0, 4), general);
  const fuzz::Tables kind = fuzz::read_tables(input);
  std::mt19937_64 random = input.random();
  const Network network = fuzz::random_network(random, structure, cards, classes, kind);
  const NetworkPredictor predictor(network);
  fuzz::require_same(predictor.n_features(), cards.size(), "features");
  fuzz::require_same(predictor.n_classes(), classes, "classes");
  fuzz::check_predictor(input, predictor, cards, fuzz::absent_features(structure),
                        std::max<std::size_t>(1, 1000 / classes), 1e-13,
                        [&](const fuzz::Row& row) { return fuzz::joint_probabilities(network, row); });
  if (input.choose({false, false, false, true})) check_instruction_sets(input, network);
  return 0;
}
