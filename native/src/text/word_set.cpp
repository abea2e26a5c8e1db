#include "spanloom/text/word_set.hpp"

#include <stdexcept>
#include <string>

namespace spanloom::text {

WordSet::WordSet(std::string_view words) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (end == 0 || end > kLongest)
      throw std::invalid_argument("[WordSet] a word has " + std::to_string(end) + " letters");
    words_.insert(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

bool WordSet::has(std::u32string_view word) const {
  std::array<char, kLongest> ascii{};
  if (word.size() > kLongest) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] > 0x7F) return false;
    ascii[i] = static_cast<char>(word[i]);
  }
  return has(std::string_view(ascii.data(), word.size()));
}

bool WordSet::has_lower(std::u32string_view word) const {
  std::array<char, kLongest> ascii{};
  if (word.size() > kLongest) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char32_t c = word[i] == 0x212A ? U'k' : word[i];
    if (c > 0x7F) return false;
    ascii[i] = static_cast<char>(c >= U'A' && c <= U'Z' ? c + 32 : c);
  }
  return has(std::string_view(ascii.data(), word.size()));
}

}  // namespace spanloom::text
