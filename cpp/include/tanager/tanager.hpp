/// Everything: learning, prediction, model files.
#pragma once

#include "tanager/aode.hpp"
#include "tanager/counts.hpp"
#include "tanager/dataset.hpp"
#include "tanager/discretize.hpp"
#include "tanager/encode.hpp"
#include "tanager/errors.hpp"
#include "tanager/evaluation.hpp"
#include "tanager/model.hpp"
#include "tanager/network.hpp"
#include "tanager/parameters.hpp"
#include "tanager/predictor.hpp"
#include "tanager/scores.hpp"
#include "tanager/search.hpp"
#include "tanager/structure.hpp"
#include "tanager/version.hpp"
