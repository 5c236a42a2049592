// A junction tree for the rows in which the same features are observed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tanager/network.hpp"

namespace tanager::internal {

/// The families of a structure, the class's own behind those of the features, as inference sees them: tables over
/// features only, with the class as lanes.
class FamilyScopes {
 public:
  struct Member {
    std::size_t feature;
    std::uint32_t stride;  ///< in the family's table
  };

  /// Throws InvalidInput if a family, repeated for every class, has more than kMaxTableCells cells.
  FamilyScopes(const Structure& structure, std::vector<std::uint32_t> cardinalities, std::uint32_t n_classes);

  std::size_t n_features() const { return cardinalities_.size(); }
  std::uint32_t n_classes() const { return n_classes_; }
  std::span<const std::uint32_t> cardinalities() const { return cardinalities_; }
  /// The features of the model, parents before children.
  std::span<const std::size_t> order() const { return order_; }
  /// Parents in their order, then the feature itself; of family n_features, the parents of the class. Empty for an
  /// absent feature.
  std::span<const Member> members(std::size_t family) const {
    return {members_.data() + first_[family], first_[family + 1] - first_[family]};
  }
  /// The features that share a family with no other: given the class, they are independent of everything.
  std::span<const std::size_t> isolated() const { return isolated_; }
  /// All others of the model.
  std::span<const std::size_t> connected() const { return connected_; }
  /// Number of cells of the family's table, classes included; zero for an absent feature.
  std::size_t table_size(std::size_t family) const { return table_sizes_[family]; }

 private:
  std::vector<std::uint32_t> cardinalities_;
  std::uint32_t n_classes_;
  std::vector<std::size_t> order_;
  std::vector<Member> members_;
  std::vector<std::size_t> first_;
  std::vector<std::size_t> table_sizes_;
  std::vector<std::size_t> isolated_, connected_;
};

/// A family in the plan. The cell of its table that belongs to a cell of its clique is `base`, found from the codes of
/// its observed members, plus the clique's offset for it.
struct JunctionTerm {
  std::size_t family;
  std::size_t first_observed, end_observed;  ///< in JunctionPlan::observed
  std::size_t offsets;  ///< in JunctionPlan::offsets: one for every cell of the clique; unused if complete
};

/// What is left of the neighborhood of a feature when it is summed out: its table is [separator][values][classes].
struct JunctionClique {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  std::size_t feature;
  std::uint32_t values;  ///< of the feature
  std::size_t first_separator,
      end_separator;                 ///< in JunctionPlan::separators: the features of the separator, outermost first
  std::size_t separator_cells;       ///< joint values of the separator
  std::size_t cells;                 ///< where its cells begin among all; times n_classes, in doubles
  std::size_t message;               ///< where the separator's cells begin among all
  std::size_t parent;                ///< the clique that hears the message; kNone if the separator is empty
  std::size_t parent_offsets;        ///< in JunctionPlan::offsets: for every cell of the parent, the separator's cell
  std::size_t first_term, end_term;  ///< in JunctionPlan::terms

  std::size_t n_cells() const { return separator_cells * values; }
};

struct JunctionPlan {
  std::vector<JunctionTerm> complete;   ///< families observed as a whole
  std::vector<JunctionClique> cliques;  ///< each before its parent
  std::vector<JunctionTerm> terms;      ///< families with a missing member, clique by clique
  std::vector<FamilyScopes::Member> observed;
  std::vector<std::uint32_t> separators;
  std::vector<std::uint32_t> offsets;                ///< in doubles, classes included
  std::size_t query_clique = JunctionClique::kNone;  ///< holds the features asked for together
  std::size_t query_offsets = 0;                     ///< for every cell of it, the cell of the answer
  std::size_t n_cells = 0;                           ///< of all cliques
  std::size_t n_message_cells = 0;                   ///< of all separators

  /// Where a row is in the table of a family, as far as its observed members say.
  std::size_t base(const JunctionTerm& term, std::span<const Code> row) const {
    std::size_t place = 0;
    for (std::size_t i = term.first_observed; i < term.end_observed; ++i)
      place += std::size_t{row[observed[i].feature]} * observed[i].stride;
    return place;
  }
  /// Memory it takes, about.
  std::size_t bytes() const;
};

/// What a plan must answer.
struct JunctionRequest {
  bool every_feature = false;         ///< keep barren features, which the probability of the evidence does not need
  std::vector<std::size_t> together;  ///< missing features whose joint distribution is asked for, outermost first
  bool connected_only = false;        ///< isolated features are left to the caller
};

/// Throws InvalidInput unless cells of that number can be told apart; returns it.
std::uint64_t checked_max_cells(std::uint64_t max_cells);

/// Compiles a plan for rows in which just the features marked are observed. Throws CliqueTooLarge if its cliques have
/// more than `max_cells` cells together, classes included, or so many families that finding them in the cells takes as
/// much memory as more cells would. A feature of one value gets no clique: it is known even
/// where it is missing, so that it neither holds others together nor is asked for.
JunctionPlan make_junction_plan(const FamilyScopes& scopes, const std::vector<bool>& observed,
                                const JunctionRequest& request, std::uint64_t max_cells);

}  // namespace tanager::internal
