// Tokens by rules over the skeleton of a text, so that they hold for every script. The rules are tried in the order in
// which they stand here, and the first that fits takes the token; none looks back over more than its own token.

#include "spanloom/text/tokenizer.hpp"

#include <array>
#include <limits>
#include <stdexcept>
#include <string>

#include "spanloom/text/addresses.hpp"
#include "spanloom/text/sentences.hpp"
#include "spanloom/text/word_set.hpp"

namespace spanloom::text {
namespace {

// What a symbol may be part of.
constexpr std::uint8_t kInWord = 1, kIsLetter = 2, kCapital = 4, kSmall = 8, kAttached = 16;

constexpr std::array<std::uint8_t, 256> make_kinds() {
  std::array<std::uint8_t, 256> kinds{};
  for (std::size_t c = 'A'; c <= 'Z'; ++c) kinds[c] = kInWord | kIsLetter | kCapital;
  for (std::size_t c = 'a'; c <= 'z'; ++c) kinds[c] = kInWord | kIsLetter | kSmall;
  kinds[kUpper] = kInWord | kIsLetter | kCapital;
  kinds[kLetter] = kInWord | kIsLetter | kSmall;
  kinds['0'] = kInWord;
  kinds[kMark] = kinds[kJoiner] = kInWord | kAttached;
  return kinds;
}
constexpr std::array<std::uint8_t, 256> kKinds = make_kinds();

// Words that keep their period; the first letter of those in the first list may be a capital.
const WordSet& abbreviations() {
  static const WordSet words = [] {
    std::string all =
        "Mme Mmes Messrs Hon Rev Gen Col Capt Lt Sgt Maj Cmdr Adm Sen Rep Reps Gov Pres Supt Inc Ltd Corp Co Bros Jr "
        "Sr "
        "Esq Jan Feb Mar Apr Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thur Thurs Fri";
    std::string either =
        "dr mr mrs ms prof fr st sts fig figs eq eqs eqn eqns ref refs tab ch sec sect vol vols pp eds suppl art vs cf "
        "viz approx resp esp incl excl etc aka ca spp sp subsp var cv nov gen univ dept inst assn lab tel ext ave blvd "
        "rd mt ft";
    all += " " + either;
    for (std::size_t i = 0; i < either.size(); ++i) {
      if (i == 0 || either[i - 1] == ' ') either[i] = static_cast<char>(either[i] - 32);
    }
    return WordSet(all + " " + either);
  }();
  return words;
}

// The tokens between begin and end; rules may look at what stands before begin, but not beyond the end.
class Matcher {
 public:
  Matcher(const Symbol* skeleton, std::size_t end) : s_(skeleton), end_(end) {}

  void run(std::size_t at, std::vector<Range>& out) const {
    while (at < end_) {
      if (s_[at] == ' ') {
        ++at;
        continue;
      }
      const std::size_t end = skip(rule(at), kAttached);
      out.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)});
      at = end;
    }
  }

 private:
  // Beyond the end stands a blank, as far as the rules are concerned.
  Symbol at(std::size_t i) const { return i < end_ ? s_[i] : Symbol{' '}; }
  bool is(std::size_t i, std::uint8_t kind) const { return i < end_ && (kKinds[s_[i]] & kind) != 0; }
  std::size_t skip(std::size_t i, std::uint8_t kind) const {
    while (is(i, kind)) ++i;
    return i;
  }
  std::size_t skip_symbol(std::size_t i, Symbol symbol) const {
    while (i < end_ && s_[i] == symbol) ++i;
    return i;
  }

  std::size_t rule(std::size_t i) const {
    const Symbol c = s_[i];
    if ((kKinds[c] & kIsLetter) != 0) return letters(i);
    if (c == '0') return number(i);
    if ((kKinds[c] & kInWord) != 0 || c == '_') return word(i);
    switch (c) {
      case '.':
        if (at(i + 1) == '0' && !(i > 0 && (s_[i - 1] == '.' || (kKinds[s_[i - 1]] & kInWord) != 0)))  // .05
          return skip(i + 1, kInWord);
        return skip_symbol(i, c);
      case '-':
      case '*':
      case '=':
      case '~':
      case '#':
        return skip_symbol(i, c);
      case '\'':
        if (i > 0 && (kKinds[s_[i - 1]] & kInWord) != 0) {  // John|'s
          if (const std::size_t end = clitic(i + 1); end > i + 1) return end;
        }
        return i + (at(i + 1) == '\'' ? 2 : 1);
      case '`':
        return i + (at(i + 1) == '`' ? 2 : 1);
      case '!':
      case '?':
        while (at(i) == '!' || at(i) == '?') ++i;
        return i;
      case kFlag:
        i = skip(i + 1, kAttached);
        return at(i) == kFlag ? i + 1 : i;
      case kEmoji:
        i = skip_symbol(i + 1, kMark);
        while (at(i) == kJoiner && at(i + 1) == kEmoji) i = skip_symbol(i + 2, kMark);
        return i;
      default:
        return i + 1;
    }
  }

  std::size_t letters(std::size_t i) const {
    if (const std::size_t end = acronym(i); end > i) return end;
    const std::size_t run = skip(i, kIsLetter);
    if (at(run) == '\'') {  // do|n't
      const Symbol n = s_[run - 1], t = at(run + 1);
      if (((n == 'n' && t == 't') || (n == 'N' && t == 'T')) && !is(run + 2, kInWord) && at(run + 2) != '\'')
        return run - 1 > i ? run - 1 : run + 2;
    }
    if (at(run) == '.') {
      if (const std::size_t end = abbreviation(i, run); end > i) return end;
    }
    return word(i);
  }

  // U.S.  e.g.  a.k.a.
  std::size_t acronym(std::size_t i) const {
    std::size_t groups = 0;
    std::size_t end = i;
    while (is(end, kIsLetter)) {
      const std::size_t period = skip(end + 1, kAttached);
      if (at(period) != '.') break;
      end = period + 1;
      ++groups;
    }
    return groups > 1 ? end : i;
  }

  // The end of an abbreviation whose letters are i .. run, where a period stands; or i.
  std::size_t abbreviation(std::size_t i, std::size_t run) const {
    const std::size_t length = run - i;
    const std::string_view letters(reinterpret_cast<const char*>(s_ + i), length);
    const Symbol next = at(run + 1);
    if (next != '.') {
      if (length <= WordSet::kLongest && abbreviations().has(letters)) return run + 1;
      if (letters == "al" && i >= 3 && s_[i - 1] == ' ' && s_[i - 2] == 't' && (s_[i - 3] == 'E' || s_[i - 3] == 'e'))
        return run + 1;
    }
    if (letters == "Ph" && next == 'D' && at(run + 2) == '.' && at(run + 3) != '.') return run + 3;
    if (letters == "No" || letters == "no" || letters == "Nos" || letters == "nos") {  // No. 5, but not "said no."
      if (next == '0' || (next == ' ' && at(run + 2) == '0')) return run + 1;
    }
    if (length == 1 && is(i, kCapital) && next == ' ' && is(run + 2, kSmall)) return run + 1;  // E. coli
    return i;
  }

  // 1,000  3.5  1e-5  2nd
  std::size_t number(std::size_t i) const {
    std::size_t end = skip_symbol(i, '0');
    if (end - i <= 3) {
      std::size_t before = end;  // the end without the last group
      std::size_t groups = end;
      while (at(groups) == ',' && at(groups + 1) == '0' && at(groups + 2) == '0' && at(groups + 3) == '0') {
        before = groups;
        groups += 4;
      }
      end = at(groups) == '0' ? before : groups;
    }
    while (at(end) == '.' && at(end + 1) == '0') end = skip_symbol(end + 1, '0');
    if ((at(end) == 'e' || at(end) == 'E') && (at(end + 1) == '-' || at(end + 1) == '+') && at(end + 2) == '0') {
      const std::size_t exponent = skip_symbol(end + 2, '0');
      if (!is(exponent, kInWord)) end = exponent;
    }
    return skip(end, kInWord);
  }

  // O'Brien
  std::size_t word(std::size_t i) const {
    while (is(i, kInWord) || at(i) == '_') ++i;
    while (at(i) == '\'' && is(i - 1, kIsLetter) && is(i + 1, kIsLetter) && clitic(i + 1) == i + 1)
      i = skip(i + 1, kInWord);
    return i;
  }

  // The end of s, re, ll, ve, d or m at i, in any case, if no word goes on there; or i.
  std::size_t clitic(std::size_t i) const {
    const auto lower = [&](std::size_t k) { return (kKinds[at(k)] & kCapital) != 0 ? at(k) | 32 : at(k); };
    const int first = lower(i), second = lower(i + 1);
    std::size_t length = 0;
    if ((first == 'r' && second == 'e') || (first == 'l' && second == 'l') || (first == 'v' && second == 'e'))
      length = 2;
    if (first == 's' || first == 'd' || first == 'm') length = 1;
    return is(i + length, kInWord) ? i : i + length;
  }

  const Symbol* s_;
  std::size_t end_;
};

// Whatever stands between blanks; with `marks`, every character that is in no word is a token of its own.
void cut_at_blanks(std::span<const Symbol> s, bool marks, std::vector<Range>& out) {
  out.clear();
  const auto in_word = [&](std::size_t i) { return (kKinds[s[i]] & kInWord) != 0 || s[i] == '_'; };
  for (std::size_t i = 0; i < s.size();) {
    if (s[i] == ' ') {
      ++i;
      continue;
    }
    const std::size_t start = i++;
    if (!marks || in_word(start)) {
      while (i < s.size() && s[i] != ' ' && (!marks || in_word(i))) ++i;
    } else {
      while (i < s.size() && (kKinds[s[i]] & kAttached) != 0) ++i;
    }
    out.push_back({static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(i)});
  }
}

}  // namespace

void Tokenizer::by_rules(std::u32string_view text, std::vector<Range>& out) {
  out.clear();
  find_addresses(text, skeleton_, addresses_);
  std::size_t at = 0;
  for (const Range& address : addresses_) {
    Matcher(skeleton_.data(), address.start).run(at, out);
    out.push_back(address);
    at = address.end;
  }
  Matcher(skeleton_.data(), text.size()).run(at, out);
}

void Tokenizer::tokenize(std::u32string_view text, std::vector<Range>& out) {
  if (text.size() > std::numeric_limits<std::uint32_t>::max())
    throw std::length_error("[Tokenizer] a text of " + std::to_string(text.size()) +
                            " code points; at most 4294967295 are possible");
  make_skeleton(text, skeleton_);
  if (rules_.base == TokenRules::Base::rules)
    by_rules(text, out);
  else
    cut_at_blanks(skeleton_, rules_.base == TokenRules::Base::punctuation, out);
  apply_switches(text, skeleton_, rules_, out);
}

void Tokenizer::split(std::u32string_view text, std::span<const Range> tokens, std::vector<Range>& out) {
  if (rules_.base == TokenRules::Base::rules) {
    split_sentences(text, tokens, out);
    return;
  }
  make_skeleton(text, skeleton_);
  by_rules(text, ours_);
  split_sentences(text, ours_, found_);
  out.clear();
  std::uint32_t first = 0, i = 0;
  for (const Range& sentence : found_) {
    const std::uint32_t end = ours_[sentence.end - 1].end;
    while (i < tokens.size() && tokens[i].end <= end) ++i;
    if (i == first || (i < tokens.size() && tokens[i].start < end)) continue;  // the break is inside a token
    out.push_back({first, i});
    first = i;
  }
}

}  // namespace spanloom::text
