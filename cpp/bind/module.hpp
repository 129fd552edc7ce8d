// The functions that add the parts of the module. Each part has its own file.
#pragma once

#include <nanobind/nanobind.h>

namespace tagalong::bind {

void add_update_rules(nanobind::module_& module);
void add_packed_weights(nanobind::module_& module);
void add_learner(nanobind::module_& module);
void add_rankers(nanobind::module_& module);
void add_label_rankers(nanobind::module_& module);
void add_races(nanobind::module_& module);
void add_compact_rankers(nanobind::module_& module);
void add_block_learners(nanobind::module_& module);
void add_shared_rankers(nanobind::module_& module);
void add_grade_rankers(nanobind::module_& module);
void add_partial_rankers(nanobind::module_& module);
void add_predtrons(nanobind::module_& module);
void add_m3l(nanobind::module_& module);
void add_answer_counts(nanobind::module_& module);
void add_measures(nanobind::module_& module);
void add_text_features(nanobind::module_& module);
void add_names(nanobind::module_& module);
void add_suggestions(nanobind::module_& module);

}  // namespace tagalong::bind
