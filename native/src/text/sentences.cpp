#include "spanloom/text/sentences.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "spanloom/text/word_set.hpp"

namespace spanloom::text {
namespace {

using Word = std::u32string_view;

constexpr Word kStops = U"。！？．｡։؟۔।॥";
constexpr Word kClosers = U")]}\"'”’»›」』）］｝》〉";
constexpr Word kOpeners = U"([{\"'“‘«‹「『（［｛《〈¿¡";
constexpr Word kRunsOn = U",-–—/&+=<([";                                 // at the end of a line
constexpr Word kOpenBrackets = U"([{（［", kCloseBrackets = U")]}）］";  // by pairs
constexpr std::size_t kLongestBracket = 60;  // in tokens; a longer pair may hold whole sentences, or be an accident

// Periods that belong to the word and are followed by the rest of the sentence, whatever its case.
const WordSet kNeverFinal(
    "dr. mr. mrs. ms. mme. mmes. messrs. prof. hon. rev. fr. st. sts. gen. col. capt. lt. sgt. maj. cmdr. adm. sen. "
    "rep. reps. gov. pres. supt. fig. figs. eq. eqs. eqn. eqns. ref. refs. tab. ch. sec. sect. vol. vols. pp. no. nos. "
    "suppl. art. vs. cf. viz. approx. resp. esp. incl. excl. ca. i.e. e.g. var. mt. univ. dept.");
// Words that begin sentences and seldom follow an abbreviation or a single letter within one.
const WordSet kStarters(
    "The A An In On At By For From To With Without As If When While Where After Before Since Because Although Though "
    "However Thus Therefore Hence Moreover Furthermore Further Finally Here There This That These Those It Its He She "
    "His Her We Our They Their You Your I My Both Each All Some Most Many Several Such One Two Three No Not Only Also "
    "Another Other What Who Which Why How Is Are Was Were Do Does Did But And Or So Then Now Next First Second Using "
    "Upon Under During Among Between Unlike Like");
// A sentence that has come to one of these runs on: "by J. Smith", or a line that ends with "of".
const WordSet kLinks(
    "a an the of by and or in on at to for from with as is was are were that which against into between both like "
    "versus vs. & , ( [");
const WordSet kGreek(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu sigma tau phi chi psi omega");

bool among(char32_t c, Word set) { return set.find(c) != Word::npos; }
bool is(char32_t c, std::uint8_t property) { return character(c).is(property); }
bool only(Word word, char32_t c) { return word.size() == 1 && word[0] == c; }
bool one_of(Word word, Word set) { return word.size() == 1 && among(word[0], set); }

// As Python's str.islower: some letter is small, and none a capital.
bool is_lower(Word word) {
  bool small = false;
  for (const char32_t c : word) {
    const Character& known = character(c);
    if (known.is(Character::kUpperOrTitle)) return false;
    small = small || known.is(Character::kIsLower);
  }
  return small;
}

class Splitter {
 public:
  Splitter(Word text, std::span<const Range> tokens) : text_(text), tokens_(tokens) {}

  void run(std::vector<Range>& out) const {
    out.clear();
    const std::size_t n = tokens_.size();
    const std::vector<bool> inside = bracketed();
    std::size_t first = 0;
    for (std::size_t i = 0; i < n;) {
      std::size_t last = i;
      bool ends = false;
      if (may_stop(word(i)) && !belongs_to_word(first, i)) {
        while (last + 1 < n && is_closer(word(last + 1)) && touch(last)) ++last;
        ends = !inside[last] && ends_sentence(i, last);
      }
      i = last + 1;
      if (i == n || ends || line_ends(i)) {
        out.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(i)});
        first = i;
      }
    }
  }

 private:
  Word word(std::size_t i) const { return text_.substr(tokens_[i].start, tokens_[i].end - tokens_[i].start); }
  // Whether the token after i begins where i ends.
  bool touch(std::size_t i) const { return tokens_[i + 1].start == tokens_[i].end; }

  static bool is_closer(Word w) { return one_of(w, kClosers) || w == U"''"; }
  static bool is_opener(Word w) { return one_of(w, kOpeners) || w == U"``" || w == U"''"; }
  static bool may_stop(Word w) {
    const char32_t last = w.back();
    if (last == U'.' || last == U'!' || last == U'?' || last == U'…') return true;
    return w.front() > 0x7F && among(w.front(), kStops);
  }

  // For each token, whether a bracket is open after it that closes again before long.
  std::vector<bool> bracketed() const {
    std::vector<bool> inside(tokens_.size(), false);
    std::vector<std::size_t> openings;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].end - tokens_[i].start != 1) continue;
      const char32_t c = text_[tokens_[i].start];
      if (among(c, kOpenBrackets)) {
        openings.push_back(i);
      } else if (!openings.empty()) {
        const std::size_t pair = kCloseBrackets.find(c);
        if (pair == Word::npos || text_[tokens_[openings.back()].start] != kOpenBrackets[pair]) continue;
        const std::size_t start = openings.back();
        openings.pop_back();
        for (std::size_t k = start; k < i && i - start <= kLongestBracket; ++k) inside[k] = true;
      }
    }
    return inside;
  }

  // Whether token i is the period of an initial or of a list item's number.
  bool belongs_to_word(std::size_t first, std::size_t i) const {
    if (!only(word(i), U'.') || i == first || i + 1 == tokens_.size() || !touch(i - 1)) return false;
    const Word before = word(i - 1);
    if (i - 1 == first && before.size() <= 3) {
      const bool digits = std::ranges::all_of(before, [](char32_t c) { return is(c, Character::kDigit); });
      if (digits || (before.size() == 1 && is(before[0], Character::kAlpha))) return true;
    }
    if (before.size() != 1 || !is(before[0], Character::kIsUpper) || i < 2 || kStarters.has(word(i + 1))) return false;
    const Word earlier = word(i - 2);
    return is(earlier[0], Character::kIsUpper) || only(earlier, U'.') || kLinks.has_lower(earlier);
  }

  // Whether the stop and the closing quotes and brackets up to `last` end a sentence.
  bool ends_sentence(std::size_t stop, std::size_t last) const {
    const std::size_t n = tokens_.size();
    const Word own = word(stop);
    if (last + 1 == n || among(own[0], kStops)) return true;
    if (touch(last)) return false;
    std::size_t follower = last + 1;
    while (follower + 1 < n && is_opener(word(follower))) ++follower;
    if (last + 1 < follower && follower + 2 < n && only(word(follower + 1), U')')) follower += 2;  // (iv) The fourth
    if (own.back() == U'.' && own[0] != U'.') {  // an abbreviation or acronym
      if (kNeverFinal.has_lower(own)) return false;
      return kStarters.has(word(follower)) || (last > stop && may_begin(follower));
    }
    return may_begin(follower);
  }

  // Whether token i may begin a sentence: lower case only if it looks like a symbol (p53, bcl-2).
  bool may_begin(std::size_t i) const {
    const Word own = word(i);
    if (!is(own[0], Character::kIsLower)) return !among(own[0], U",;:)]}%/");
    const auto digit = [](char32_t c) { return is(c, Character::kDigit); };
    if (!is_lower(own) || std::ranges::any_of(own, digit) || kGreek.has(own)) return true;
    const bool hyphen =
        i + 2 < tokens_.size() && only(word(i + 1), U'-') && tokens_[i].end + 1 == tokens_[i + 1].end && touch(i + 1);
    return hyphen && (own.size() == 1 || !is_lower(word(i + 2)));
  }

  // Whether a paragraph, title or list item ends before token i.
  bool line_ends(std::size_t i) const {
    const std::size_t start = tokens_[i - 1].end, end = tokens_[i].start;
    if (end <= start || (end - start == 1 && text_[start] == U' ')) return false;
    const Word gap = text_.substr(start, end - start);
    if (gap.find_first_of(U"\n\r\f\u2029") == Word::npos) return false;
    if (has_blank_line(gap)) return true;
    if (gap.find_first_of(U"\n\r") == Word::npos) return false;
    const Word before = word(i - 1);
    return !(is(word(i)[0], Character::kIsLower) || one_of(before, kRunsOn) || kLinks.has_lower(before) ||
             kNeverFinal.has_lower(before));
  }

  // \n, blanks without \n, \n; or the same of \r with neither between; or \f, or a paragraph separator.
  static bool has_blank_line(Word gap) {
    for (std::size_t i = 0; i < gap.size(); ++i) {
      const char32_t c = gap[i];
      if (c == U'\f' || c == U'\u2029') return true;
      if (c != U'\n' && c != U'\r') continue;
      std::size_t k = i + 1;
      while (k < gap.size() && gap[k] != U'\n' && gap[k] != c && is(gap[k], Character::kSpace)) ++k;
      if (k < gap.size() && gap[k] == c) return true;
    }
    return false;
  }

  Word text_;
  std::span<const Range> tokens_;
};

}  // namespace

void split_sentences(std::u32string_view text, std::span<const Range> tokens, std::vector<Range>& out) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].start >= tokens[i].end || tokens[i].end > text.size())
      throw std::out_of_range("token " + std::to_string(i) + " is (" + std::to_string(tokens[i].start) + ", " +
                              std::to_string(tokens[i].end) + "); it must be a half-open range of a text of " +
                              std::to_string(text.size()) + " characters, and not empty");
  }
  Splitter(text, tokens).run(out);
}

}  // namespace spanloom::text
