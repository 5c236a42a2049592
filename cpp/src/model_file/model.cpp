// The model: a classifier with what its codes mean. All checks of a model's consistency are here, so that one built by
// a program and one read from a file are held to the same rules.
#include "tanager/model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "model_file/format.hpp"
#include "model_file/labels.hpp"
#include "support/utf8.hpp"
#include "tanager/errors.hpp"
#include "tanager/network_predictor.hpp"

namespace tanager {

using namespace internal;

namespace {

std::string describe(const FeatureInfo& feature) {
  return "feature '" + feature.name + "'";
}

void check_cuts(const FeatureInfo& feature, std::uint32_t cardinality) {
  if (!feature.labels.empty())
    throw InvalidInput(describe(feature) + " is one of intervals and cannot have labels, got " +
                       std::to_string(feature.labels.size()));
  if (feature.cuts.size() + 1 != cardinality)
    throw InvalidInput(describe(feature) + " has " + std::to_string(cardinality) + " values and so needs " +
                       std::to_string(cardinality - 1) + " cut points, got " + std::to_string(feature.cuts.size()));
  for (std::size_t i = 0; i < feature.cuts.size(); ++i)
    if (!std::isfinite(feature.cuts[i]) || (i > 0 && !(feature.cuts[i - 1] < feature.cuts[i])))
      throw InvalidInput(describe(feature) + " needs finite and increasing cut points, but number " +
                         std::to_string(i) + " is not");
}

std::vector<Code> check_labels(const FeatureInfo& feature, std::uint32_t cardinality) {
  if (!feature.cuts.empty())
    throw InvalidInput(describe(feature) + " is one of categories and cannot have cut points, got " +
                       std::to_string(feature.cuts.size()));
  // A feature that was always missing in learning has no label, yet its table needs one value.
  const bool never_seen = feature.labels.empty() && cardinality == 1;
  if (feature.labels.size() != cardinality && !never_seen)
    throw InvalidInput(describe(feature) + " has " + std::to_string(cardinality) + " values, but " +
                       std::to_string(feature.labels.size()) + " labels were given");
  return internal::label_order(feature.labels, describe(feature));
}

std::vector<std::uint32_t> check_names(const std::vector<FeatureInfo>& features) {
  for (std::size_t i = 0; i < features.size(); ++i)
    if (!internal::is_utf8(features[i].name))
      throw InvalidInput("the name of feature " + std::to_string(i) + " is not UTF-8 text");
  std::vector<std::uint32_t> order(features.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return features[a].name < features[b].name; });
  const auto twice = std::adjacent_find(order.begin(), order.end(),
                                        [&](auto a, auto b) { return features[a].name == features[b].name; });
  if (twice != order.end())
    throw InvalidInput("features need different names, but two are named '" + features[*twice].name + "'");
  return order;
}

void check_cells(std::span<const double> cells) {
  for (const double cell : cells)
    if (!std::isfinite(cell) || cell < 0.0)
      throw InvalidInput("counts must be finite and non-negative, got " + internal::label_text(cell));
}

void check_fit(const CountSet& counts, const Model& model) {
  if (!std::ranges::equal(counts.cardinalities(), model.cardinalities()) || counts.n_classes() != model.n_classes())
    throw InvalidInput(
        "the counts must be over the model's own features and classes, but their numbers of values differ");
  internal::check_counts(counts);
}

struct DescribeClassifier {
  const char* operator()(const Network&) const { return "is a network"; }
  const char* operator()(const Aode&) const { return "averages one-dependence estimators"; }
  const char* operator()(const Tbmatan&) const { return "averages over all trees"; }
};

template <class T>
const T& classifier_as(const Classifier& classifier, const char* otherwise) {
  if (const auto* found = std::get_if<T>(&classifier)) return *found;
  throw InvalidInput(std::string("the model ") + otherwise + ", but " + std::visit(DescribeClassifier{}, classifier));
}

}  // namespace

void internal::check_counts(const CountSet& counts) {
  check_cells(counts.class_counts());
  check_cells(counts.cells());
}

std::unique_ptr<const Predictor> make_predictor(const Classifier& classifier) {
  struct Make {
    std::unique_ptr<const Predictor> operator()(const Network& network) const {
      return std::make_unique<const NetworkPredictor>(network);
    }
    std::unique_ptr<const Predictor> operator()(const Aode& aode) const {
      return std::make_unique<const AodePredictor>(aode);
    }
    std::unique_ptr<const Predictor> operator()(const Tbmatan& average) const {
      return std::make_unique<const TbmatanPredictor>(average);
    }
  };
  return std::visit(Make{}, classifier);
}

Model::Model(Classifier classifier, std::vector<FeatureInfo> features, std::vector<Label> classes, std::string settings,
             std::optional<CountSet> counts)
    : classifier_(std::move(classifier)),
      predictor_(make_predictor(classifier_)),
      features_(std::move(features)),
      classes_(std::move(classes)),
      settings_(std::move(settings)),
      counts_(std::move(counts)) {
  if (features_.size() != n_features())
    throw InvalidInput("the model has " + std::to_string(n_features()) + " features, but " +
                       std::to_string(features_.size()) + " were described");
  if (classes_.size() != n_classes())
    throw InvalidInput("the model has " + std::to_string(n_classes()) + " classes, but " +
                       std::to_string(classes_.size()) + " class labels were given");
  if (!internal::is_utf8(settings_)) throw InvalidInput("the settings are not UTF-8 text");
  name_order_ = check_names(features_);
  label_orders_.resize(features_.size());
  for (std::size_t f = 0; f < features_.size(); ++f) {
    const std::uint32_t cardinality = cardinalities()[f];
    if (features_[f].is_interval)
      check_cuts(features_[f], cardinality);
    else
      label_orders_[f] = check_labels(features_[f], cardinality);
  }
  internal::label_order(classes_, "the class");
  if (counts_) check_fit(*counts_, *this);
}

const Network& Model::network() const {
  return classifier_as<Network>(classifier_, "is not a network");
}

const Aode& Model::aode() const {
  return classifier_as<Aode>(classifier_, "does not average one-dependence estimators");
}

const Tbmatan& Model::tbmatan() const {
  return classifier_as<Tbmatan>(classifier_, "does not average over all trees");
}

std::span<const std::uint32_t> Model::cardinalities() const {
  return std::visit([](const auto& classifier) { return classifier.cardinalities(); }, classifier_);
}

std::size_t Model::feature_index(std::string_view name) const {
  const auto at = std::partition_point(name_order_.begin(), name_order_.end(),
                                       [&](std::uint32_t f) { return features_[f].name < name; });
  if (at == name_order_.end() || features_[*at].name != name)
    throw InvalidInput("the model has no feature named '" + std::string(name) + "'");
  return *at;
}

const FeatureInfo& Model::checked_feature(std::size_t feature) const {
  if (feature >= features_.size())
    throw InvalidInput("expected a feature below " + std::to_string(features_.size()) + ", got " +
                       std::to_string(feature));
  return features_[feature];
}

Code Model::encode(std::size_t feature, std::string_view value) const {
  const FeatureInfo& info = checked_feature(feature);
  if (info.is_interval) return encode(feature, internal::parse_number(value));
  return internal::find_text(info.labels, label_orders_[feature], value);
}

Code Model::encode(std::size_t feature, double value) const {
  const FeatureInfo& info = checked_feature(feature);
  if (!info.is_interval) return internal::find_number(info.labels, label_orders_[feature], value);
  if (std::isnan(value)) return kMissing;
  return static_cast<Code>(std::lower_bound(info.cuts.begin(), info.cuts.end(), value) - info.cuts.begin());
}

std::string Model::class_name(std::uint32_t index) const {
  if (index >= classes_.size())
    throw InvalidInput("expected a class below " + std::to_string(classes_.size()) + ", got " + std::to_string(index));
  return internal::label_text(classes_[index]);
}

}  // namespace tanager
