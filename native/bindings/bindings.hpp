#pragma once
#include <nanobind/nanobind.h>

namespace spanloom::bindings {

// One function per topic, each in a file of its own.
void bind_sparse(nanobind::module_& m);
void bind_graph(nanobind::module_& m);
void bind_structure(nanobind::module_& m);
void bind_lattice(nanobind::module_& m);
void bind_readings(nanobind::module_& m);
void bind_objective(nanobind::module_& m);
void bind_supervision(nanobind::module_& m);
void bind_learning(nanobind::module_& m);
void bind_shared_rows(nanobind::module_& m);
void bind_markov(nanobind::module_& m);
void bind_feature_counts(nanobind::module_& m);
void bind_features(nanobind::module_& m);
void bind_clusters(nanobind::module_& m);
void bind_corpus(nanobind::module_& m);
void bind_multilabel(nanobind::module_& m);
void bind_token_trie(nanobind::module_& m);
void bind_text(nanobind::module_& m);
void bind_tagging(nanobind::module_& m);
void bind_attributes(nanobind::module_& m);
void bind_attribute_chain(nanobind::module_& m);

}  // namespace spanloom::bindings
