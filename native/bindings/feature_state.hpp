#pragma once
#include <nanobind/nanobind.h>

#include <memory>

#include "arrays.hpp"
#include "spanloom/features/feature_table.hpp"

namespace spanloom::bindings {

// Nanobind needs a type of its own; programs are shared among tables.
struct ProgramHandle {
  std::shared_ptr<const Program> program;
};

// Strings as arrays, by name, among others: "strings" (bytes), "string_ends", "pool_sizes"; and back (throws
// std::invalid_argument).
void give_pools(const std::vector<StringPool>& pools, nanobind::dict& arrays);
std::vector<StringPool> read_pools(const Input<std::uint8_t>& strings, const Input<std::uint64_t>& string_ends,
                                   const Input<std::uint64_t>& pool_sizes);

// A table as arrays, by name; and back (throws std::invalid_argument). Reading needs no GIL.
nanobind::dict table_state(const FeatureTable& table);
std::shared_ptr<const FeatureTable> read_table(
    std::shared_ptr<const Program> program, const Input<std::uint8_t>& strings, const Input<std::uint64_t>& string_ends,
    const Input<std::uint64_t>& pool_sizes, const Input<std::uint32_t>& template_of, const Input<std::uint32_t>& keys);

}  // namespace spanloom::bindings
