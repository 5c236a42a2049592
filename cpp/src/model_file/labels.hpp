// Labels in a fixed order, to find equal ones and to look values up. A sorted order rather than a hash map: a hostile
// model file cannot choose labels that all collide, the usual few labels are found as fast, and copies of a model
// need no rebuilt map.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tanager/dataset.hpp"
#include "tanager/model.hpp"

namespace tanager::internal {

/// The codes of labels in increasing order: first numbers by value (true counts as 1), then text byte by byte.
/// Throws InvalidInput, starting with `owner`, if a label is NaN or not UTF-8, or two labels are equal (1, 1.0 and true
/// are).
std::vector<Code> label_order(std::span<const Label> labels, const std::string& owner);

/// Code of a value, kMissing if no label equals it.
Code find_number(std::span<const Label> labels, std::span<const Code> order, double value);
/// The same for text: a label of text that equals it, else a number or boolean that it spells.
Code find_text(std::span<const Label> labels, std::span<const Code> order, std::string_view value);

/// A label as text: true, false, or the shortest text that reads back as the same number.
std::string label_text(const Label& label);

/// The number that a text spells as a whole, NaN if it spells none. Blanks around it and a plus sign are allowed;
/// beyond the range of a double it is an infinity or zero.
double parse_number(std::string_view text);
/// Whether a text spells NaN, as some programs write missing numbers.
bool spells_nan(std::string_view text);

}  // namespace tanager::internal
