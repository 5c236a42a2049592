// Memory that runs out anywhere: every k-th `new` of every public call fails once. The call must throw std::bad_alloc
// or an error of the library (or do without), leak nothing, and give the same result afterwards.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "allocations.hpp"
#include "check.hpp"
#include "model_fixtures.hpp"
#include "reference.hpp"
#include "tanager/tanager.hpp"

namespace {

using namespace tanager;

using Numbers = std::vector<double>;

/// Runs the call once for every allocation that it makes. With threads, how many there are depends on who comes first:
/// it goes on until a run meets no failure.
void check_every_allocation(const char* name, const std::function<Numbers()>& call) {
  const Numbers expected = call();  // and whatever is made only once is made
  const long before = alive;
  long raised = 0;
  for (long k = 1;; ++k) {
    bool met = false;
    std::optional<Numbers> result;
    allocations = 0;
    failing = k;
    try {
      result = call();
    } catch (const std::bad_alloc&) {
      met = true;
    } catch (const Error&) {  // such as that a file cannot be read for want of memory
      met = true;
    }
    const bool reached = allocations >= k;
    failing = 0;
    raised += met ? 1 : 0;
    if (result && *result != expected) check::fail(name, static_cast<int>(k), "another result");
    result.reset();
    if (k % 16 == 0 && call() != expected) check::fail(name, static_cast<int>(k), "another result afterwards");
    if (!reached) break;
  }
  CHECK(raised > 0);
  CHECK(call() == expected);
  // Caches may keep a little more than before; a leak would be one block per failure.
  if (alive - before > 64) check::fail(name, 0, "memory is leaked: " + std::to_string(alive - before) + " blocks");
}

Dataset table(double missing = 0.0, bool weighted = false) {
  return reference::random_dataset({{3, missing, 0.3}, {2, missing, 0.3}, {4, missing, 0.3}, {2, missing, 0.3}},
                                   {3, 0.0, 0.2}, 90, weighted, 5);
}

void add(Numbers& to, std::span<const double> more) {
  to.insert(to.end(), more.begin(), more.end());
}

Numbers tables_of(const Network& network) {
  Numbers all;
  add(all, network.class_table());
  for (std::size_t f = 0; f < network.n_features(); ++f)
    if (!network.structure().is_absent(f)) add(all, network.table(f));
  return all;
}

Numbers parents_of(const Structure& structure) {
  Numbers all;
  for (std::size_t f = 0; f < structure.n_features(); ++f) {
    all.push_back(structure.is_absent(f) ? -2 : -1);
    if (!structure.is_absent(f))
      for (const std::size_t parent : structure.parents(f)) all.push_back(static_cast<double>(parent));
  }
  return all;
}

std::vector<Code> rows_with_gaps(std::span<const std::uint32_t> cardinalities, std::size_t n_rows) {
  std::mt19937 random(7);
  std::vector<Code> rows;
  for (std::size_t i = 0; i < n_rows; ++i)
    for (const std::uint32_t n_values : cardinalities)
      rows.push_back(random() % 3 == 0 ? kMissing : static_cast<Code>(random() % n_values));
  return rows;
}

/// A fresh predictor each time, so its lazy parts are created under failures, too.
Numbers predictions(const Predictor& predictor, std::span<const Code> rows, int threads) {
  Numbers out(rows.size() / predictor.n_features() * predictor.n_classes());
  predictor.predict_rows(rows, Output::kPosterior, out, threads);
  std::vector<std::uint32_t> classes(rows.size() / predictor.n_features());
  predictor.predict_classes_rows(rows, classes, threads);
  out.insert(out.end(), classes.begin(), classes.end());
  Numbers one(predictor.n_classes());
  predictor.predict(rows.first(predictor.n_features()), Output::kLogJoint, one);
  add(out, one);
  return out;
}

std::vector<std::uint32_t> three_folds(std::size_t n_rows) {
  std::vector<std::uint32_t> folds(n_rows);
  for (std::size_t i = 0; i < n_rows; ++i) folds[i] = static_cast<std::uint32_t>(i % 3);
  return folds;
}

}  // namespace

TEST(counting_and_folds) {
  for (const bool weighted : {false, true}) {
    const Dataset data = table(0.1, weighted);
    for (const int threads : {1, 2})
      check_every_allocation("count", [&] {
        const CountSet counts = count(data, CountScope::kPairs, {{2, {0, 1}}}, threads);
        Numbers all(counts.pair(0, 2).begin(), counts.pair(0, 2).end());
        const CountTable family = counts.table({2, {0, 1}});
        add(all, family.cells);
        return all;
      });
  }
  const Dataset data = table();
  const auto folds = three_folds(data.n_rows());
  check_every_allocation("folds", [&] {
    const FoldCounter counter(data, CountScope::kPairs, {}, std::vector<bool>(4, false), 2, folds);
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < data.n_rows(); i += 2) rows.push_back(i);
    const TrainingFold fold = counter.train(rows);
    const TrainingFold without = counter.train_without(1);
    Numbers all(fold.counts.pair(0, 1).begin(), fold.counts.pair(0, 1).end());
    add(all, without.counts.pair(0, 1));
    return all;
  });
}

TEST(structures_and_parameters) {
  const Dataset data = table();
  const CountSet counts = count(data, CountScope::kPairs);
  check_every_allocation("Chow-Liu", [&] { return parents_of(learn_chow_liu(counts, {}, 2)); });
  check_every_allocation("k-DB", [&] { return parents_of(learn_kdb(counts, {}, 2)); });
  check_every_allocation("aCLL tree", [&] { return parents_of(learn_acll_tree(counts, {}, 2)); });
  const Structure tree = learn_chow_liu(counts);
  check_every_allocation("Dirichlet", [&] { return tables_of(estimate_dirichlet(tree, counts)); });
  check_every_allocation("softened", [&] { return tables_of(estimate_softened(tree, counts)); });
  check_every_allocation("data temperature", [&] { return tables_of(estimate_data_temperature(tree, counts)); });
  check_every_allocation("aCLL parameters", [&] { return tables_of(estimate_acll_optimal(tree, counts)); });
  check_every_allocation("AODE", [&] {
    const std::vector<Code> rows = rows_with_gaps(counts.cardinalities(), 20);
    return predictions(AodePredictor(learn_aode(counts)), rows, 2);
  });
  const Structure naive(std::vector<std::vector<std::size_t>>(4));
  check_every_allocation("model averaged", [&] { return tables_of(estimate_model_averaged(naive, counts).network); });
  check_every_allocation("tree depths", [&] {
    const auto depths = tree_depths(naive, data, {.n_trees = 2}, 2);
    return weights_from_depths(depths, 4);
  });
  check_every_allocation("WANBIA", [&] {
    const WanbiaObjective objective(naive, data, counts);
    const Numbers weights(4, 0.5);
    Numbers gradient(4);
    gradient.push_back(objective.evaluate(weights, std::span(gradient).first(4), 2));
    return gradient;
  });
}

TEST(searches) {
  const Dataset data = table();
  const auto folds = three_folds(data.n_rows());
  for (const SearchMethod method :
       {SearchMethod::kHillClimb, SearchMethod::kSuperParent, SearchMethod::kForwardJoin, SearchMethod::kBackwardJoin})
    for (const int threads : {1, 2})
      check_every_allocation("search", [&] {
        SearchOptions options;
        options.method = method;
        options.epsilon = 0;
        options.max_steps = 1;
        return parents_of(search_structure(data, folds, options, threads).structure);
      });
  const Dataset gaps = table(0.2);
  check_every_allocation("search with gaps", [&] {
    SearchOptions options;
    options.max_steps = 1;
    return parents_of(search_structure(gaps, folds, options, 2).structure);
  });
  // With a threshold; along the grid of thresholds there are so many allocations that two features are enough.
  const Dataset narrow = reference::random_dataset({{2, 0.0, 0.3}, {2, 0.0, 0.3}}, {2, 0.0, 0.2}, 90, false, 5);
  for (const bool given : {true, false}) {
    const Dataset& rows = given ? data : narrow;
    ConstraintOptions options;
    if (given) options.threshold = 0.02;
    check_every_allocation("PC", [&] { return parents_of(learn_constraint_augmented(rows, options, 2).structure); });
    check_every_allocation("three phases", [&] { return parents_of(learn_three_phase(rows, options, 2).structure); });
  }
}

TEST(parameters_from_rows) {
  const Dataset data = table(0.2);
  const Structure tree = learn_chow_liu(count(data, CountScope::kPairs));
  check_every_allocation("EM", [&] { return tables_of(estimate_em(tree, data, {.max_iter = 2}, 2).network); });
  check_every_allocation("APN", [&] { return tables_of(estimate_apn(tree, data, {.max_iter = 2}, 2).network); });
  check_every_allocation("ELR", [&] {
    ElrOptions options;
    options.max_iter = 1;
    options.fold_of_row = three_folds(data.n_rows());
    return tables_of(estimate_elr(tree, data, options, 2).network);
  });
}

TEST(predictions_of_all_kinds) {
  for (const Model& model : {fixtures::rich_model(), fixtures::rich_general_model(), fixtures::model_leaving_out(),
                             fixtures::rich_aode_model(), fixtures::rich_tbmatan_model()}) {
    const std::vector<Code> rows = rows_with_gaps(model.cardinalities(), 12);
    for (const int threads : {1, 2})
      check_every_allocation("prediction", [&] {
        const auto predictor = make_predictor(model.classifier());
        return predictions(*predictor, rows, threads);
      });
  }
  TbmatanOptions options;
  options.max_assignments = 2;
  options.n_trees = 4;
  const Dataset data = table();
  const CountSet counts = count(data, CountScope::kPairs);
  const std::vector<Code> rows = rows_with_gaps(counts.cardinalities(), 8);
  check_every_allocation("sampled trees",
                         [&] { return predictions(TbmatanPredictor(Tbmatan(counts, options)), rows, 2); });
}

TEST(queries) {
  const Network network = fixtures::rich_general_model().network();
  check_every_allocation("queries", [&] {
    const Queries queries(network);
    const Evidence evidence{std::vector<Code>(network.n_features(), kMissing), std::nullopt};
    const std::vector<std::size_t> asked{0, 1};
    Numbers all = queries.posterior(evidence, asked).probabilities;
    all.push_back(queries.log_probability(evidence));
    all.push_back(queries.most_probable(evidence).log_probability);
    std::vector<Code> cases((network.n_features() + 1) * 40);
    queries.sample(evidence, 3, cases, 2);
    all.insert(all.end(), cases.begin(), cases.end());
    return all;
  });
}

TEST(sums_over_trees) {
  Numbers logs(36);
  for (std::size_t u = 0; u < 6; ++u)
    for (std::size_t v = 0; v < 6; ++v) logs[u * 6 + v] = std::log(1.0 + static_cast<double>(u * v + u + v));
  check_every_allocation("tree sums", [&] {
    const EdgeWeights weights = EdgeWeights::from_logs(6, logs);
    Numbers all = edge_probabilities(weights, 2);
    all.push_back(tree_entropy(weights, 2));
    all.push_back(tree_sum(weights).log());
    all.push_back(tree_distribution(weights).log_best_probability);
    for (const auto& tree : sample_trees(weights, 40, 1, 2))
      for (const auto& [u, v] : tree) all.push_back(static_cast<double>(u * 6 + v));
    return all;
  });
}

TEST(encoding_and_bins) {
  std::mt19937 random(3);
  std::vector<std::int64_t> integers(3 * 700);
  Numbers floats(700);
  for (auto& value : integers) value = static_cast<std::int64_t>(random() % 300) * 1000003;
  for (double& value : floats) value = static_cast<double>(random() % 1000) / 7;
  check_every_allocation("encoding", [&] {
    const IntegerMatrix matrix{integers.data(), IntegerType::kInt64, 700, 3, 24, 8};
    const std::vector<std::size_t> columns{0, 1, 2};
    const auto keys = distinct_integers(matrix, columns, 2);
    std::vector<CodeBook> books;
    std::vector<const CodeBook*> pointers;
    books.reserve(3);
    for (const auto& found : keys) pointers.push_back(&books.emplace_back(found));
    std::vector<std::vector<std::uint16_t>> codes(3, std::vector<std::uint16_t>(700));
    std::vector<CodeBuffer> out;
    for (auto& column : codes) out.push_back({column.data(), true});
    encode_integers(matrix, pointers, out, 2);
    Numbers all;
    for (const auto& column : codes) all.insert(all.end(), column.begin(), column.end());
    const char* text = reinterpret_cast<const char*>(integers.data());
    std::vector<std::int32_t> numbers(700);
    const auto first_rows = number_fixed_strings(text, 24, 8, numbers);
    all.insert(all.end(), first_rows.begin(), first_rows.end());
    return all;
  });
  std::vector<std::uint8_t> targets(700);
  for (std::size_t i = 0; i < 700; ++i) targets[i] = floats[i] > 60 ? 1 : 0;
  const Column classes(targets, 2);
  check_every_allocation("bins", [&] {
    const NumberColumn column{std::span<const double>(floats)};
    Numbers all = mdl_cuts(column, classes);
    add(all, equal_frequency_cuts(column, 5));
    add(all, equal_width_cuts(column, 5));
    std::vector<std::uint8_t> codes(700);
    apply_cuts(column, all.empty() ? Numbers{} : Numbers{all[0]}, codes);
    all.insert(all.end(), codes.begin(), codes.end());
    return all;
  });
}

TEST(model_files) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("tanager-allocations-" + std::to_string(std::random_device{}()));
  std::filesystem::create_directory(folder);
  const std::string path = (folder / "model").string();
  const auto content = [&] {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  for (const Model& model : {fixtures::rich_model(), fixtures::rich_aode_model(), fixtures::rich_tbmatan_model()}) {
    const auto bytes = write_model(model);
    check_every_allocation("bytes of a model", [&] {
      const auto again = write_model(read_model(bytes));
      return Numbers{again == bytes ? 1.0 : 0.0};
    });
    save_model(fixtures::small_model(), path);
    const std::string old = content();
    const std::string whole(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    check_every_allocation("files", [&] {
      save_model(model, path);
      return Numbers{write_model(load_model(path)) == bytes ? 1.0 : 0.0};
    });
    for (long k = 1; k < 400; ++k) {
      failing = 0;
      save_model(fixtures::small_model(), path);
      allocations = 0;
      failing = k;
      try {
        save_model(model, path);
      } catch (const std::exception&) {
      }
      failing = 0;
      const std::string now = content();
      CHECK(now == old || now == whole);
      CHECK_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
    }
  }
  std::filesystem::remove_all(folder);
}

TEST_MAIN
