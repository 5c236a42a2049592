// The work of tanager-predict: blocks of rows are read, encoded, predicted and written, several at once and in order.
#pragma once

#include "files.hpp"
#include "options.hpp"
#include "tanager/model.hpp"

namespace tanager::predict {

/// Reads the whole table and writes its predictions. Throws InvalidInput for a wrong table and FileFailure.
void predict_table(const Model& model, const Options& options, Input& input, Output& output);

}  // namespace tanager::predict
