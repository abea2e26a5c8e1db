#include "bindings.hpp"

NB_MODULE(_native, m) {
  m.doc() = "spanloom's native core.";
#ifdef NDEBUG
  // Programs that end with modules still in use, as those with spaCy do, are not to tell their users about it.
  nanobind::set_leak_warnings(false);
#endif
  spanloom::bindings::bind_sparse(m);
  spanloom::bindings::bind_graph(m);
  spanloom::bindings::bind_lattice(m);
  spanloom::bindings::bind_structure(m);
  spanloom::bindings::bind_readings(m);
  spanloom::bindings::bind_learning(m);
  spanloom::bindings::bind_shared_rows(m);
  spanloom::bindings::bind_markov(m);
  spanloom::bindings::bind_features(m);
  spanloom::bindings::bind_feature_counts(m);
  spanloom::bindings::bind_clusters(m);
  spanloom::bindings::bind_corpus(m);
  spanloom::bindings::bind_multilabel(m);
  spanloom::bindings::bind_token_trie(m);
  spanloom::bindings::bind_text(m);
  spanloom::bindings::bind_tagging(m);
  spanloom::bindings::bind_attributes(m);
  spanloom::bindings::bind_attribute_chain(m);
}
