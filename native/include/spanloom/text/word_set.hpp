#pragma once
#include <array>
#include <string_view>

#include "spanloom/text/strings.hpp"

namespace spanloom::text {

// A set of short words of ASCII, asked with code points.
class WordSet {
 public:
  static constexpr std::size_t kLongest = 15;

  // `words` are separated by single blanks.
  explicit WordSet(std::string_view words);

  bool has(std::string_view word) const { return words_.find(word) != kNone; }
  bool has(std::u32string_view word) const;
  // Whether the lower case of the word is in the set. Of other code points, only U+212A has a lower case in ASCII.
  bool has_lower(std::u32string_view word) const;

 private:
  StringPool words_;
};

}  // namespace spanloom::text
