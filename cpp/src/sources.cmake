# Every source file of the library, folder by folder in the order of the stages. tests/python checks that none is left out.

# What it takes to load a model file and to predict with it. Of the learners that is the parameters of TBMATAN's trees.
add_stage(tanager_predict support check_stop.cpp parallel.cpp special.cpp utf8.cpp)
add_stage(tanager_predict simd cpu.cpp)
add_stage(tanager_predict counts count_set.cpp)
add_stage(tanager_predict graph elimination.cpp min_fill.cpp spanning_tree.cpp tree_samples.cpp tree_sum.cpp)
add_stage(tanager_predict model network.cpp structure.cpp version.cpp)
add_stage(tanager_predict inference family_scopes.cpp forest.cpp inference.cpp junction_plan.cpp
          junction_plan_cache.cpp junction_propagate.cpp log_messages.cpp most_probable.cpp queries.cpp sample.cpp)
add_stage(tanager_predict predict lookup_kernels.cpp lookup_tables.cpp network_predictor.cpp predictor.cpp)
add_stage(tanager_predict parameters dirichlet.cpp from_counts.cpp)
add_stage(tanager_predict aode aode.cpp block.cpp finish.cpp kernel.cpp learn.cpp plan.cpp predictor.cpp)
add_stage(tanager_predict tbmatan double_double.cpp pairs.cpp predictor.cpp rising_factorial.cpp tbmatan.cpp
          tree_kernel.cpp tree_plan.cpp)
add_stage(tanager_predict model_file checksum.cpp file_posix.cpp file_standard.cpp format.cpp labels.cpp model.cpp
          model_file.cpp reader.cpp settings.cpp writer.cpp)
add_stage(tanager_predict csv records.cpp rows.cpp write.cpp)

# All else: data sets, counting, learning, evaluation.
add_stage(tanager data dataset.cpp discretize_apply.cpp discretize_column.cpp discretize_mdl.cpp
          discretize_unsupervised.cpp encode_arrow.cpp encode_codebook.cpp encode_distinct.cpp encode_floats.cpp
          encode_integers.cpp encode_intervals.cpp encode_learn.cpp encode_strings.cpp transpose.cpp)
add_stage(tanager counts bit_pairs.cpp bit_sets.cpp byte_compare.cpp class_order.cpp common_ones.cpp
          count.cpp direct.cpp histogram.cpp match.cpp plan.cpp recode.cpp)
add_stage(tanager scores acll_constants.cpp acll_score.cpp family_score.cpp information.cpp)
add_stage(tanager graph branching.cpp edge_probabilities.cpp tree_entropy.cpp)
add_stage(tanager parameters acll_optimal.cpp data_temperature.cpp model_averaged.cpp softened.cpp)
add_stage(tanager rows complete_rows.cpp em.cpp gradient_fits.cpp line_search.cpp optimizer.cpp
          row_likelihood.cpp softmax_families.cpp start.cpp)
add_stage(tanager weights attribute_weights.cpp categorical_tree.cpp powers.cpp wanbia.cpp wanbia_kernels.cpp)
add_stage(tanager evaluation fold_counter.cpp folds.cpp recode_rows.cpp scores.cpp)
add_stage(tanager structure acll_pairs.cpp acll_tree.cpp chow_liu.cpp kdb.cpp)
add_stage(tanager search candidates.cpp fold_counts.cpp fold_rows.cpp generators.cpp incomplete_rows.cpp
          kernels.cpp lookups.cpp plain_arcs.cpp scorer.cpp search.cpp super_parent_sums.cpp term_tables.cpp)
add_stage(tanager constraint constraint.cpp independence.cpp independence_counts.cpp orientation.cpp set_counts.cpp
          skeleton.cpp three_phase.cpp)
