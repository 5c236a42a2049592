// Payloads of the sections, written in the order of their tags. "text" is a u32 length and that many bytes of UTF-8.
//
//     network    u32 classes, u32 features, f64 probability of every class, u32 number of values of every feature;
//                for every feature: u32 number of parents, u32 each, or kAbsent if the network leaves it out; then the
//                tables of all features that it has, f64, laid out as in Network
//     aode       u32 classes, u32 features, f64 probability of every class, u32 number of values of every feature,
//                f64 min_count; then f64: counts of values, singles, pairs, laid out as in Aode
//     tbmatan    u32 classes, u32 features, u32 number of values of every feature, f64 equivalent sample size,
//                f64 stubbornness or 0 for none, u32 number of beliefs, f64 each, u32 number of class probabilities
//                that were given, f64 each, u64 max_assignments, u32 n_trees; then as counts
//     general network  (the class has parents, or is no parent of some feature)
//                u32 classes, u32 features, u32 number of parents of the class, u32 each, u32 number of values of every
//                feature; parents of every feature as above; for every feature u8 whether the class is its parent; then
//                the table of the class and of all features that it has, f64, laid out as in Network
//     features   for every feature: u8 kind, text name, u32 count, then labels or f64 cut points
//     classes    u32 count, labels
//     settings   the text itself
//     counts     u8 scope, u32 families, for every family u32 child, u32 number of parents, u32 each;
//                then f64: class counts, singles, pairs in the order (0,1), (0,2), ..., families
//     a label    u8 kind, then u8 (bool), u64 in two's complement (integer), f64 (real) or text
#include <utility>

#include "model_file/bytes.hpp"
#include "model_file/format.hpp"

namespace tanager::internal {
namespace {

template <class Body>
void write_section(ByteWriter& out, Tag tag, Body body) {
  out.number(static_cast<std::uint32_t>(tag));
  const std::size_t length_at = out.size();
  out.number(std::uint64_t{0});
  const std::size_t start = out.size();
  body();
  out.patch(length_at, out.size() - start);
}

void write_indices(ByteWriter& out, const std::vector<std::size_t>& indices) {
  out.count(indices.size());
  for (const std::size_t index : indices) out.count(index);
}

/// Both kinds of networks: the general one says where the class stands, and has the class's table further behind.
void write_network(ByteWriter& out, const Network& network) {
  const Structure& structure = network.structure();
  const bool general = !structure.is_augmented_naive();
  out.number(network.n_classes());
  out.count(network.n_features());
  if (general)
    write_indices(out, structure.class_parents());
  else
    out.reals(network.class_table());
  for (const std::uint32_t cardinality : network.cardinalities()) out.number(cardinality);
  for (std::size_t f = 0; f < network.n_features(); ++f)
    if (structure.is_absent(f))
      out.number(kAbsent);
    else
      write_indices(out, structure.parents(f));
  if (general) {
    for (std::size_t f = 0; f < network.n_features(); ++f)
      out.number(static_cast<std::uint8_t>(structure.is_class_child(f) ? 1 : 0));
    out.reals(network.class_table());
  }
  for (std::size_t f = 0; f < network.n_features(); ++f) out.reals(network.table(f));
}

void write_aode(ByteWriter& out, const Aode& aode) {
  out.number(aode.n_classes());
  out.count(aode.n_features());
  out.reals(aode.class_probabilities());
  for (const std::uint32_t cardinality : aode.cardinalities()) out.number(cardinality);
  out.real(aode.min_count());
  out.reals(aode.value_counts());
  out.reals(aode.singles());
  out.reals(aode.pairs());
}

void write_counts(ByteWriter& out, const CountSet& counts) {
  out.number(static_cast<std::uint8_t>(counts.scope() == CountScope::kPairs ? 1 : 0));
  out.count(counts.families().size());
  for (const Family& family : counts.families()) {
    out.count(family.child);
    write_indices(out, family.parents);
  }
  out.reals(counts.class_counts());
  out.reals(counts.cells());
}

void write_tbmatan(ByteWriter& out, const Tbmatan& model) {
  const TbmatanOptions& options = model.options();
  out.number(model.n_classes());
  out.count(model.n_features());
  for (const std::uint32_t cardinality : model.cardinalities()) out.number(cardinality);
  out.real(options.equivalent_sample_size);
  out.real(options.stubbornness.value_or(0.0));
  out.count(options.edge_beliefs.size());
  out.reals(options.edge_beliefs);
  out.count(options.class_prior.size());
  out.reals(options.class_prior);
  out.number(options.max_assignments);
  out.number(options.n_trees);
  write_counts(out, model.counts());
}

struct WriteClassifier {
  ByteWriter& out;

  void operator()(const Network& network) const {
    const Tag tag = network.structure().is_augmented_naive() ? Tag::kNetwork : Tag::kGeneralNetwork;
    write_section(out, tag, [&] { write_network(out, network); });
  }
  void operator()(const Aode& aode) const {
    write_section(out, Tag::kAode, [&] { write_aode(out, aode); });
  }
  void operator()(const Tbmatan& model) const {
    write_section(out, Tag::kTbmatan, [&] { write_tbmatan(out, model); });
  }
};

struct WriteLabel {
  ByteWriter& out;

  void kind(LabelKind value) const { out.number(static_cast<std::uint8_t>(value)); }
  void operator()(bool value) const {
    kind(LabelKind::kBool);
    out.number(static_cast<std::uint8_t>(value ? 1 : 0));
  }
  void operator()(std::int64_t value) const {
    kind(LabelKind::kInteger);
    out.number(static_cast<std::uint64_t>(value));
  }
  void operator()(double value) const {
    kind(LabelKind::kReal);
    out.real(value);
  }
  void operator()(const std::string& value) const {
    kind(LabelKind::kText);
    out.text(value);
  }
};

void write_labels(ByteWriter& out, const std::vector<Label>& labels) {
  out.count(labels.size());
  for (const Label& label : labels) std::visit(WriteLabel{out}, label);
}

void write_feature(ByteWriter& out, const FeatureInfo& feature) {
  const FeatureKind kind = feature.is_interval ? FeatureKind::kIntervals : FeatureKind::kCategories;
  out.number(static_cast<std::uint8_t>(kind));
  out.text(feature.name);
  if (feature.is_interval) {
    out.count(feature.cuts.size());
    out.reals(feature.cuts);
  } else {
    write_labels(out, feature.labels);
  }
}

struct CountCells {
  std::size_t operator()(const Network& network) const {
    std::size_t cells = network.class_table().size();
    for (std::size_t f = 0; f < network.n_features(); ++f) cells += network.table(f).size();
    return cells;
  }
  std::size_t operator()(const Aode& aode) const {
    return aode.value_counts().size() + aode.singles().size() + aode.pairs().size();
  }
  std::size_t operator()(const Tbmatan& model) const {
    return model.counts().cells().size() + model.options().edge_beliefs.size();
  }
};

/// The tables are nearly all of a large file; without this the buffer would be copied as it grows.
std::size_t expected_size(const Model& model) {
  const std::size_t cells =
      std::visit(CountCells{}, model.classifier()) + (model.counts() ? model.counts()->cells().size() : 0);
  return cells * sizeof(double) + 64 * model.n_features() + model.settings().size() + 256;
}

}  // namespace
}  // namespace tanager::internal

namespace tanager {

std::vector<std::byte> write_model(const Model& model) {
  using namespace internal;
  ByteWriter out;
  out.reserve(expected_size(model));
  out.raw(std::as_bytes(std::span(kMagic)));
  out.number(kFormatVersion);
  const std::size_t length_at = out.size();
  out.number(std::uint64_t{0});
  std::visit(WriteClassifier{out}, model.classifier());
  write_section(out, Tag::kFeatures, [&] {
    for (const FeatureInfo& feature : model.features()) write_feature(out, feature);
  });
  write_section(out, Tag::kClasses, [&] { write_labels(out, model.classes()); });
  write_section(out, Tag::kSettings, [&] { out.raw(std::as_bytes(std::span(model.settings()))); });
  if (model.counts()) write_section(out, Tag::kCounts, [&] { write_counts(out, *model.counts()); });
  out.patch(length_at, out.size() + kChecksumSize);
  out.number(std::uint64_t{0});
  std::vector<std::byte> file = out.take();
  seal(file);
  return file;
}

}  // namespace tanager
