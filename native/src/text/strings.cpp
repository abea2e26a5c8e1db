#include "spanloom/text/strings.hpp"

#include <stdexcept>

namespace spanloom {

std::uint32_t StringPool::insert(std::string_view text, std::uint64_t hash) {
  const std::uint32_t found = find(text, hash);
  if (found != kNone) return found;
  if (strings_.size() >= kNone) throw std::length_error("more than 4294967295 distinct strings");
  const auto id = static_cast<std::uint32_t>(strings_.size());
  strings_.push_back(text);
  slots_.insert(hash, id);
  return id;
}

}  // namespace spanloom
