#pragma once
#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "spanloom/features/feature_input.hpp"

namespace spanloom::bindings {

// Copies strings out of Python objects, so that the work on them needs neither the objects nor the GIL.
// columns[c][s][t]: the string of column c, sentence s, token t; own[s][t]: the user's features of a token, or own[s]
// is None. Throws std::invalid_argument that names sentence, token and column or feature.
TokenInput read_input(const std::vector<std::string>& names, nanobind::handle columns, nanobind::handle own);

// "tokens", "gaps" or "segments"; throws std::invalid_argument.
Sites parse_sites(const std::string& name);

}  // namespace spanloom::bindings
