#include "spanloom/text/word_table.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "spanloom/text/sentences.hpp"
#include "spanloom/text/unicode.hpp"

namespace spanloom::text {
namespace {

constexpr std::size_t kAhead = 16;  // words between the prefetch of a place and its use

}  // namespace

std::vector<std::uint64_t> WordTable::unknown(std::span<const GivenWord> words) const {
  std::vector<std::uint64_t> keys;
  HashSlots seen;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint64_t key = words[i].key;
    if (i + kAhead < words.size()) slots_.prefetch(words[i + kAhead].key);
    const auto known = [](std::uint32_t) { return true; };
    if (find(key) != kNone || seen.find(key, known) != kNone) continue;
    seen.insert(key, 0);
    keys.push_back(key);
  }
  return keys;
}

void WordTable::add(std::uint64_t key, std::string_view word, bool blank) {
  if (find(key) != kNone) return;
  if (word.size() > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument("[WordTable] a word of " + std::to_string(word.size()) + " bytes");
  std::u32string code_points;
  decode_utf8(word, code_points);
  slots_.insert(key, static_cast<std::uint32_t>(words_.size()));
  words_.push_back(
      {bytes_.size(), static_cast<std::uint32_t>(word.size()), static_cast<std::uint32_t>(code_points.size()), blank});
  bytes_ += word;
}

std::vector<std::uint32_t> WordTable::find(std::span<const GivenWord> words) const {
  // Places of the table are asked for ahead, so that several are waited for at the same time.
  std::vector<std::uint32_t> ids(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i + kAhead < words.size()) slots_.prefetch(words[i + kAhead].key);
    ids[i] = find(words[i].key);
    if (ids[i] == kNone) throw std::invalid_argument("[WordTable] word " + std::to_string(i) + " is not known");
    if (words_[ids[i]].length == 0) throw std::invalid_argument("[WordTable] word " + std::to_string(i) + " is empty");
  }
  return ids;
}

CutWords WordTable::cut(const GivenWords& given) const {
  const std::size_t n = given.words.size();
  if (given.ptr.empty() || given.ptr.front() != 0 || given.ptr.back() != static_cast<std::int64_t>(n) ||
      !std::is_sorted(given.ptr.begin(), given.ptr.end()))
    throw std::invalid_argument("[WordTable] " + std::to_string(n) + " words and " + std::to_string(given.ptr.size()) +
                                " pointers do not fit together");
  const std::vector<std::uint32_t> ids = find(given.words);
  CutWords out;
  out.texts.reserve(given.ptr.size() - 1);
  out.place.reserve(n);
  out.cut.chars.reserve(n);
  out.cut.bytes.reserve(n);
  out.cut.word_numbers.reserve(n);
  std::vector<std::uint32_t> numbers(words_.size(), kNone);  // by word of the table: its number among those that occur
  std::u32string code_points;
  std::vector<Range> found;
  auto& ends = out.cut.token_ptr;
  for (std::size_t d = 0; d + 1 < given.ptr.size(); ++d) {
    const auto first = static_cast<std::size_t>(given.ptr[d]), last = static_cast<std::size_t>(given.ptr[d + 1]);
    std::size_t size = 0;
    for (std::size_t i = first; i < last; ++i) size += words_[ids[i]].bytes + 1;
    if (size > std::numeric_limits<std::uint32_t>::max())
      throw std::invalid_argument("[WordTable] text " + std::to_string(d) + " has " + std::to_string(size) + " bytes");
    std::string& text = out.texts.emplace_back();
    text.reserve(size);
    // The first word always begins a sentence; only the others tell whether sentences are known.
    bool known = false;
    for (std::size_t i = first + 1; i < last; ++i) known = known || given.words[i].begin != 0;
    const std::size_t first_token = out.place.size();
    bool begins = false;
    std::uint32_t at = 0;  // in code points
    for (std::size_t i = first; i < last; ++i) {
      const Word& word = words_[ids[i]];
      const std::string_view written = this->text(word);
      begins = begins || given.words[i].begin == 1;
      if (!word.blank) {
        const auto byte = static_cast<std::uint32_t>(text.size());
        // White space that begins a sentence leaves that to the next word.
        if (known && begins && out.place.size() > first_token) ends.push_back(out.place.size());
        begins = false;
        out.cut.chars.push_back({at, at + word.length});
        out.cut.bytes.push_back({byte, byte + word.bytes});
        std::uint32_t& own = numbers[ids[i]];
        if (own == kNone) {
          own = static_cast<std::uint32_t>(out.cut.words.size());
          out.cut.words.push_back(written);
        }
        out.cut.word_numbers.push_back(own);
        out.place.push_back(static_cast<std::int64_t>(i - first));
      }
      text += written;
      at += word.length;
      if (given.words[i].gap == 0) continue;
      text.push_back(' ');
      ++at;
    }
    if (known) {
      if (out.place.size() > first_token) ends.push_back(out.place.size());
    } else {
      decode_utf8(text, code_points);
      split_sentences(code_points, std::span(out.cut.chars).subspan(first_token), found);
      for (const Range& sentence : found) ends.push_back(first_token + sentence.end);
    }
    out.cut.sentence_ptr.push_back(ends.size() - 1);
    out.ptr.push_back(static_cast<std::int64_t>(out.place.size()));
  }
  out.cut.texts.assign(out.texts.begin(), out.texts.end());
  return out;
}

}  // namespace spanloom::text
