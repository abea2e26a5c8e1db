#include "spanloom/text/word_table.hpp"

#include <algorithm>
#include <stdexcept>

#include "spanloom/text/unicode.hpp"

namespace spanloom::text {
namespace {

constexpr std::size_t kAhead = 16;  // words between the prefetch of a place and its use

}  // namespace

std::vector<std::int64_t> WordTable::unknown(std::span<const std::uint64_t> keys) const {
  std::vector<std::int64_t> places;
  HashSlots seen;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + kAhead < keys.size()) slots_.prefetch(keys[i + kAhead]);
    const auto known = [](std::uint32_t) { return true; };
    if (find(keys[i]) != kNone || seen.find(keys[i], known) != kNone) continue;
    seen.insert(keys[i], 0);
    places.push_back(static_cast<std::int64_t>(i));
  }
  return places;
}

void WordTable::add(std::uint64_t key, std::string_view word, bool blank) {
  if (find(key) != kNone) return;
  std::u32string code_points;
  decode_utf8(word, code_points);
  slots_.insert(key, static_cast<std::uint32_t>(words_.size()));
  words_.push_back(word);
  about_.push_back({static_cast<std::uint32_t>(code_points.size()), blank});
}

WrittenWords WordTable::write(const GivenWords& given) const {
  const std::size_t n = given.keys.size();
  if (given.ptr.empty() || given.ptr.front() != 0 || given.ptr.back() != static_cast<std::int64_t>(n) ||
      !std::is_sorted(given.ptr.begin(), given.ptr.end()) || given.gaps.size() != n || given.begin.size() != n)
    throw std::invalid_argument("[WordTable] " + std::to_string(n) + " keys, " + std::to_string(given.gaps.size()) +
                                " gaps, " + std::to_string(given.begin.size()) + " beginnings and " +
                                std::to_string(given.ptr.size()) + " pointers do not fit together");
  // Places of the table are asked for ahead, so that several are waited for at the same time.
  std::vector<std::uint32_t> ids(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kAhead < n) slots_.prefetch(given.keys[i + kAhead]);
    ids[i] = find(given.keys[i]);
    if (ids[i] == kNone) throw std::invalid_argument("[WordTable] word " + std::to_string(i) + " is not known");
  }
  WrittenWords out;
  out.texts.reserve(given.ptr.size() - 1);
  out.start.resize(n);
  out.end.resize(n);
  out.first.resize(n);
  out.place.resize(n);
  std::size_t token = 0;
  for (std::size_t d = 0; d + 1 < given.ptr.size(); ++d) {
    const auto first = static_cast<std::size_t>(given.ptr[d]), last = static_cast<std::size_t>(given.ptr[d + 1]);
    std::string& text = out.texts.emplace_back();
    text.reserve(8 * (last - first));
    // The first word always begins a sentence; only the others tell whether sentences are known.
    bool sentences = false;
    for (std::size_t i = first + 1; i < last; ++i) sentences = sentences || given.begin[i] != 0;
    bool begins = sentences;
    std::uint32_t at = 0;
    for (std::size_t i = first; i < last; ++i) {
      const Word& word = about_[ids[i]];
      begins = begins || (sentences && given.begin[i] == 1);
      text.append(words_[ids[i]]);
      if (!word.blank) {
        out.start[token] = at;
        out.end[token] = at + word.length;
        out.first[token] = begins ? 1 : 0;
        out.place[token++] = static_cast<std::int64_t>(i - first);
        begins = false;  // white space that begins a sentence leaves that to the next word
      }
      at += word.length;
      if (given.gaps[i] != 0) {
        text.push_back(' ');
        ++at;
      }
    }
    out.ptr.push_back(static_cast<std::int64_t>(token));
  }
  out.start.resize(token);
  out.end.resize(token);
  out.first.resize(token);
  out.place.resize(token);
  return out;
}

}  // namespace spanloom::text
