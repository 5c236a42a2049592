// Reads the sections that writer.cpp describes. Nothing in the file is believed: sizes are compared with the
// bytes that remain before memory is asked for, and the constructors of Structure, Network, CountSet and Model check
// meanings.
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "aode/size.hpp"
#include "model_file/bytes.hpp"
#include "model_file/checksum.hpp"
#include "model_file/format.hpp"

namespace tanager::internal {
namespace {

using enum ModelFileProblem;

std::vector<std::size_t> read_indices(ByteReader& in, std::uint32_t count, std::size_t limit) {
  in.need(count, sizeof(std::uint32_t));
  std::vector<std::size_t> indices(count);
  for (std::size_t& index : indices) {
    index = in.number<std::uint32_t>();
    if (index >= limit) in.fail("names feature " + std::to_string(index) + ", but there are " + std::to_string(limit));
  }
  return indices;
}

std::vector<std::uint32_t> read_cardinalities(ByteReader& in, std::uint32_t n_features) {
  in.need(n_features, sizeof(std::uint32_t));
  std::vector<std::uint32_t> cardinalities(n_features);
  for (std::uint32_t& cardinality : cardinalities) {
    cardinality = in.number<std::uint32_t>();
    if (cardinality == 0 || cardinality > kMaxValues)
      in.fail("gives a feature " + std::to_string(cardinality) + " values, but 1 to " + std::to_string(kMaxValues) +
              " are possible");
  }
  return cardinalities;
}

/// Cells of a table over the child, its parents and the class; the largest number if there are too many to count.
std::uint64_t table_cells(const Family& family, std::span<const std::uint32_t> cardinalities, std::uint32_t n_classes) {
  std::uint64_t cells = saturating_multiply(cardinalities[family.child], n_classes);
  for (const std::size_t parent : family.parents) cells = saturating_multiply(cells, cardinalities[parent]);
  return cells;
}

struct Arcs {
  std::vector<std::vector<std::size_t>> parents;
  std::vector<bool> absent;
};

Arcs read_arcs(ByteReader& in, std::uint32_t n_features, std::uint32_t version) {
  std::vector<std::vector<std::size_t>> parents(n_features);
  std::vector<bool> absent(n_features, false);
  for (std::uint32_t f = 0; f < n_features; ++f) {
    const auto count = in.number<std::uint32_t>();
    if (count == kAbsent && version > 1)
      absent[f] = true;
    else
      parents[f] = read_indices(in, count, n_features);
  }
  return {std::move(parents), std::move(absent)};
}

bool read_flag(ByteReader& in, const char* what) {
  const auto flag = in.number<std::uint8_t>();
  if (flag > 1) in.fail(std::string("has ") + what + " of " + std::to_string(flag) + ", which is neither 0 nor 1");
  return flag == 1;
}

std::vector<std::vector<double>> read_tables(ByteReader& in, const Structure& structure,
                                             std::span<const std::uint32_t> cardinalities, std::uint32_t n_classes) {
  std::vector<std::vector<double>> tables;
  tables.reserve(cardinalities.size());
  for (std::size_t f = 0; f < cardinalities.size(); ++f) {
    const std::uint32_t width = structure.is_class_child(f) ? n_classes : 1;
    tables.push_back(in.reals(structure.is_absent(f) ? 0 : table_cells(structure.family(f), cardinalities, width)));
  }
  return tables;
}

Network read_network(ByteReader in, std::uint32_t version) {
  const auto n_classes = in.count(sizeof(double));
  const auto n_features = in.count(2 * sizeof(std::uint32_t));
  std::vector<double> class_probabilities = in.reals(n_classes);
  std::vector<std::uint32_t> cardinalities = read_cardinalities(in, n_features);
  Arcs arcs = read_arcs(in, n_features, version);
  Structure structure = Structure::leaving_out(std::move(arcs.absent), std::move(arcs.parents));
  std::vector<std::vector<double>> tables = read_tables(in, structure, cardinalities, n_classes);
  in.finish();
  return Network(std::move(structure), std::move(cardinalities), class_probabilities, std::move(tables));
}

Network read_general_network(ByteReader in, std::uint32_t version) {
  const auto n_classes = in.number<std::uint32_t>();
  const auto n_features = in.count(2 * sizeof(std::uint32_t));
  std::vector<std::size_t> class_parents = read_indices(in, in.number<std::uint32_t>(), n_features);
  std::vector<std::uint32_t> cardinalities = read_cardinalities(in, n_features);
  Arcs arcs = read_arcs(in, n_features, version);
  std::vector<bool> class_children(n_features);
  for (std::uint32_t f = 0; f < n_features; ++f) class_children[f] = read_flag(in, "an arc from the class");
  Structure structure = Structure::general(std::move(arcs.parents), std::move(class_children), std::move(class_parents),
                                           std::move(arcs.absent));
  const auto family = structure.class_family();
  std::vector<double> class_table = in.reals(family ? table_cells(*family, cardinalities, n_classes) : n_classes);
  std::vector<std::vector<double>> tables = read_tables(in, structure, cardinalities, n_classes);
  in.finish();
  return Network(std::move(structure), std::move(cardinalities), n_classes, std::move(class_table), std::move(tables));
}

Aode read_aode(ByteReader in) {
  const auto n_classes = in.count(sizeof(double));
  const auto n_features = in.count(sizeof(std::uint32_t));
  std::vector<double> class_probabilities = in.reals(n_classes);
  std::vector<std::uint32_t> cardinalities = read_cardinalities(in, n_features);
  const double min_count = in.real();
  std::uint64_t values = 0;
  for (const std::uint32_t cardinality : cardinalities) values += cardinality;
  std::vector<double> value_counts = in.reals(values);
  std::vector<double> singles = in.reals(saturating_multiply(values, n_classes));
  std::vector<double> pairs = in.reals(aode_pair_cells(cardinalities, n_classes));
  in.finish();
  return Aode(std::move(cardinalities), std::move(class_probabilities), std::move(singles), std::move(pairs),
              std::move(value_counts), min_count);
}

Label read_label(ByteReader& in) {
  const auto kind = in.number<std::uint8_t>();
  switch (static_cast<LabelKind>(kind)) {
    case LabelKind::kBool:
      return read_flag(in, "a boolean label");
    case LabelKind::kInteger:
      return static_cast<std::int64_t>(in.number<std::uint64_t>());
    case LabelKind::kReal:
      return in.real();
    case LabelKind::kText:
      return in.text();
  }
  in.fail("has a label of the unknown kind " + std::to_string(kind));
}

std::vector<Label> read_labels(ByteReader& in) {
  constexpr std::size_t kLeastLabelSize = 2;
  const auto count = in.count(kLeastLabelSize);
  // Labels take more room in memory than in the file, so the format's own limit matters here too.
  if (count > kMaxValues)
    in.fail("gives a variable " + std::to_string(count) + " labels, but at most " + std::to_string(kMaxValues) +
            " are possible");
  std::vector<Label> labels;
  labels.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) labels.push_back(read_label(in));
  return labels;
}

FeatureInfo read_feature(ByteReader& in) {
  FeatureInfo feature;
  const auto kind = in.number<std::uint8_t>();
  feature.name = in.text();
  switch (static_cast<FeatureKind>(kind)) {
    case FeatureKind::kCategories:
      feature.labels = read_labels(in);
      return feature;
    case FeatureKind::kIntervals:
      feature.is_interval = true;
      feature.cuts = in.reals(in.count(sizeof(double)));
      return feature;
  }
  in.fail("has a feature of the unknown kind " + std::to_string(kind));
}

std::vector<FeatureInfo> read_features(ByteReader in, std::size_t n_features) {
  constexpr std::size_t kLeastFeatureSize = 1 + 2 * sizeof(std::uint32_t);
  in.need(n_features, kLeastFeatureSize);
  std::vector<FeatureInfo> features;
  features.reserve(n_features);
  for (std::size_t f = 0; f < n_features; ++f) features.push_back(read_feature(in));
  in.finish();
  return features;
}

std::vector<Label> read_classes(ByteReader in) {
  std::vector<Label> classes = read_labels(in);
  in.finish();
  return classes;
}

/// Cells of all tables of a set. Pairs are summed in closed form, since a loop over the pairs of a file that only
/// pretends to hold them could last for hours: sum over u < v of r_u r_v = ((sum r)^2 - sum r^2) / 2.
std::uint64_t set_cells(std::span<const std::uint32_t> cardinalities, std::uint32_t n_classes, CountScope scope,
                        const std::vector<Family>& families) {
  std::uint64_t sum = 0;
  std::uint64_t sum_of_squares = 0;
  for (const std::uint64_t r : cardinalities) {
    sum = saturating_add(sum, r);
    sum_of_squares = saturating_add(sum_of_squares, r * r);
  }
  std::uint64_t cells = saturating_add(n_classes, saturating_multiply(sum, n_classes));
  if (scope == CountScope::kPairs) {
    constexpr std::uint64_t kTooLarge = std::uint64_t{1} << 32;
    if (sum >= kTooLarge) return std::numeric_limits<std::uint64_t>::max();
    cells = saturating_add(cells, saturating_multiply((sum * sum - sum_of_squares) / 2, n_classes));
  }
  for (const Family& family : families) cells = saturating_add(cells, table_cells(family, cardinalities, n_classes));
  return cells;
}

CountSet read_counts(ByteReader in, std::span<const std::uint32_t> cardinalities, std::uint32_t n_classes) {
  const auto scope_number = in.number<std::uint8_t>();
  if (scope_number > 1) in.fail("has the unknown scope " + std::to_string(scope_number));
  const CountScope scope = scope_number == 1 ? CountScope::kPairs : CountScope::kSingles;
  const std::size_t n = cardinalities.size();
  std::vector<Family> families(in.count(2 * sizeof(std::uint32_t)));
  for (Family& family : families) {
    family.child = in.number<std::uint32_t>();
    if (family.child >= n)
      in.fail("names feature " + std::to_string(family.child) + ", but there are " + std::to_string(n));
    family.parents = read_indices(in, in.number<std::uint32_t>(), n);
  }
  const std::uint64_t cells = set_cells(cardinalities, n_classes, scope, families);
  if (saturating_multiply(cells, sizeof(double)) != in.remaining())
    in.fail("should hold " + std::to_string(cells) + " counts, but " + std::to_string(in.remaining()) +
            " bytes remain for them");
  CountSet counts({cardinalities.begin(), cardinalities.end()}, n_classes, scope, std::move(families));
  in.reals(counts.class_counts());
  in.reals(counts.cells());
  in.finish();
  return counts;
}

Tbmatan read_tbmatan(ByteReader in) {
  const auto n_classes = in.number<std::uint32_t>();
  // Without classes all tables are empty, whatever the number of features: sizes would prove nothing.
  if (n_classes == 0 || n_classes > kMaxValues)
    in.fail("has " + std::to_string(n_classes) + " classes, but 1 to " + std::to_string(kMaxValues) + " are possible");
  const auto n_features = in.count(sizeof(std::uint32_t));
  const std::vector<std::uint32_t> cardinalities = read_cardinalities(in, n_features);
  TbmatanOptions options;
  options.equivalent_sample_size = in.real();
  if (const double stubbornness = in.real(); stubbornness != 0) options.stubbornness = stubbornness;
  options.edge_beliefs = in.reals(in.count(sizeof(double)));
  options.class_prior = in.reals(in.count(sizeof(double)));
  options.max_assignments = in.number<std::uint64_t>();
  options.n_trees = in.number<std::uint32_t>();
  CountSet counts = read_counts(in, cardinalities, n_classes);
  if (!counts.families().empty()) in.fail("counts families, which an average over trees does not have");
  check_counts(counts);
  return Tbmatan(std::move(counts), std::move(options));
}

Classifier read_classifier(std::span<const std::byte> payload, const SectionTable& table) {
  if (table.kind == Tag::kAode) return read_aode({payload, "averaged estimators"});
  if (table.kind == Tag::kTbmatan) return read_tbmatan({payload, "the average over trees"});
  if (table.kind == Tag::kGeneralNetwork) return read_general_network({payload, "the network"}, table.version);
  return read_network({payload, "the network"}, table.version);
}

void check_checksum(std::span<const std::byte> file) {
  const auto content = file.first(file.size() - kChecksumSize);
  if (load_little<std::uint64_t>(file.data() + content.size()) != crc64(content))
    throw ModelFileError(kDamaged, "its checksum does not match its content: it was damaged or changed");
}

Model parse_sections(std::span<const std::byte> file, const SectionTable& table) {
  const auto payload = [&](const Extent& extent) {
    return file.subspan(static_cast<std::size_t>(extent.offset), static_cast<std::size_t>(extent.length));
  };
  Classifier classifier = read_classifier(payload(table.classifier), table);
  const auto cardinalities = std::visit([](const auto& c) { return c.cardinalities(); }, classifier);
  const auto n_classes = std::visit([](const auto& c) { return c.n_classes(); }, classifier);
  std::vector<FeatureInfo> features = read_features({payload(table.features), "features"}, cardinalities.size());
  std::vector<Label> classes = read_classes({payload(table.classes), "classes"});
  const auto settings = payload(table.settings);
  std::optional<CountSet> counts;
  if (table.counts) counts = read_counts({payload(*table.counts), "counts"}, cardinalities, n_classes);
  return Model(std::move(classifier), std::move(features), std::move(classes),
               {reinterpret_cast<const char*>(settings.data()), settings.size()}, std::move(counts));
}

}  // namespace

Model parse_model(std::span<const std::byte> file) {
  try {
    const SectionTable table = read_section_table(file.size(), [&](std::uint64_t offset, std::span<std::byte> out) {
      std::memcpy(out.data(), file.data() + offset, out.size());
    });
    check_checksum(file);
    return parse_sections(file, table);
  } catch (const InvalidInput& error) {
    throw ModelFileError(kDamaged, std::string("its content is inconsistent: ") + error.what());
  } catch (const std::bad_alloc&) {
    throw ModelFileError(kNoMemory, "there is not enough memory for it");
  } catch (const std::length_error&) {
    throw ModelFileError(kNoMemory, "there is not enough memory for it");
  }
}

}  // namespace tanager::internal

namespace tanager {

Model read_model(std::span<const std::byte> bytes) {
  try {
    return internal::parse_model(bytes);
  } catch (const ModelFileError& error) {
    throw ModelFileError(error.problem(), std::string("cannot read the model data: ") + error.what());
  }
}

}  // namespace tanager
