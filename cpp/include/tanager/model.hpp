#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tanager/aode.hpp"
#include "tanager/counts.hpp"
#include "tanager/network.hpp"
#include "tanager/predictor.hpp"
#include "tanager/tbmatan.hpp"

namespace tanager {

/// A value of a feature or of the class, as the user knows it.
using Label = std::variant<bool, std::int64_t, double, std::string>;

/// The meaning of a feature's codes.
struct FeatureInfo {
  std::string name;
  /// The value of every code, for a feature of categories; empty for one of intervals.
  std::vector<Label> labels;
  /// Increasing cut points of a feature of intervals: code i means cuts[i-1] < x <= cuts[i].
  std::vector<double> cuts;
  bool is_interval = false;
};

/// The kinds of classifiers.
using Classifier = std::variant<Network, Aode, Tbmatan>;

/// The predictor that belongs to a classifier.
[[nodiscard]] std::unique_ptr<const Predictor> make_predictor(const Classifier& classifier);

/// The content of a model file: the classifier, the meaning of its codes, and the settings it was trained with.
/// Immutable and safe to share between threads.
class Model {
 public:
  /// Throws InvalidInput if the descriptions do not fit the classifier.
  Model(Classifier classifier, std::vector<FeatureInfo> features, std::vector<Label> classes, std::string settings = {},
        std::optional<CountSet> counts = {});

  [[nodiscard]] const Classifier& classifier() const { return classifier_; }
  /// The classifier by its kind. Throws InvalidInput if it is of another kind.
  [[nodiscard]] const Network& network() const;
  [[nodiscard]] const Aode& aode() const;
  [[nodiscard]] const Tbmatan& tbmatan() const;
  [[nodiscard]] const Predictor& predictor() const { return *predictor_; }
  [[nodiscard]] const std::vector<FeatureInfo>& features() const { return features_; }
  [[nodiscard]] const std::vector<Label>& classes() const { return classes_; }
  /// The settings the model was learned with, as the learning program wrote them (JSON text).
  [[nodiscard]] const std::string& settings() const { return settings_; }
  /// The counts it was learned from, if they were kept.
  [[nodiscard]] const std::optional<CountSet>& counts() const { return counts_; }

  [[nodiscard]] std::size_t n_features() const { return predictor_->n_features(); }
  [[nodiscard]] std::uint32_t n_classes() const { return predictor_->n_classes(); }
  /// Number of values of every feature.
  [[nodiscard]] std::span<const std::uint32_t> cardinalities() const;

  /// Index of a feature. Throws InvalidInput if no feature has that name.
  [[nodiscard]] std::size_t feature_index(std::string_view name) const;
  /// Code of a value of a feature, kMissing for NaN and for a value never seen in learning. A number given for a
  /// feature of intervals is discretized; text given for a feature of intervals, or whose labels are numbers or
  /// booleans, is read as one ("3", " +3" and "3.0" all find 3, "true", "True" and "TRUE" find true). Allocates
  /// nothing.
  [[nodiscard]] Code encode(std::size_t feature, std::string_view value) const;
  [[nodiscard]] Code encode(std::size_t feature, double value) const;
  [[nodiscard]] Code encode(std::string_view feature, std::string_view value) const {
    return encode(feature_index(feature), value);
  }
  [[nodiscard]] Code encode(std::string_view feature, double value) const {
    return encode(feature_index(feature), value);
  }
  /// A class as text: true, false, or the shortest text that reads back as the same number.
  [[nodiscard]] std::string class_name(std::uint32_t index) const;

  /// One row of codes: writes the posterior probabilities and returns the most probable class. With a scratch, rows
  /// share their buffers: see Predictor::Scratch for what allocates memory.
  std::uint32_t predict(std::span<const Code> row, std::span<double> posterior) const {
    return predictor_->predict(row, Output::kPosterior, posterior);
  }
  std::uint32_t predict(std::span<const Code> row, std::span<double> posterior, Predictor::Scratch& scratch) const {
    return predictor_->predict(row, Output::kPosterior, posterior, scratch);
  }
  /// Posterior probabilities of rows of codes: see Predictor::predict_rows.
  void predict_proba(std::span<const Code> rows, std::span<double> out, int threads = 1) const {
    predictor_->predict_rows(rows, Output::kPosterior, out, threads);
  }

 private:
  const FeatureInfo& checked_feature(std::size_t feature) const;

  Classifier classifier_;
  std::shared_ptr<const Predictor> predictor_;
  std::vector<FeatureInfo> features_;
  std::vector<Label> classes_;
  std::string settings_;
  std::optional<CountSet> counts_;
  std::vector<std::uint32_t> name_order_;        // features in the order of their names, to look one up
  std::vector<std::vector<Code>> label_orders_;  // of every feature: codes in the order of their labels
};

/// Reads a model file. Throws ModelFileError if it cannot be read, is not a model file or is damaged.
[[nodiscard]] Model load_model(const std::string& path);
/// Writes a model file atomically: if it fails, ModelFileError is thrown and an existing file stays unchanged.
void save_model(const Model& model, const std::string& path);

/// The same through memory.
[[nodiscard]] Model read_model(std::span<const std::byte> bytes);
[[nodiscard]] std::vector<std::byte> write_model(const Model& model);

}  // namespace tanager
