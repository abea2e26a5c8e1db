#include "bindings.hpp"

NB_MODULE(_native, m) {
  m.doc() = "spanloom's native core.";
  spanloom::bindings::bind_sparse(m);
}
