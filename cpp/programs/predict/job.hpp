// The pipeline of tanager-predict: reads, encodes, predicts and writes blocks of rows, in parallel and in order.
#pragma once

#include "files.hpp"
#include "options.hpp"
#include "tanager/model.hpp"

namespace tanager::predict {

/// Reads the table and writes its predictions. Throws InvalidInput for invalid data, and FileFailure.
void predict_table(const Model& model, const Options& options, Input& input, Output& output);

}  // namespace tanager::predict
