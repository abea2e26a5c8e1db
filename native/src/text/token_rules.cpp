#include "spanloom/text/token_rules.hpp"

#include <array>
#include <stdexcept>

#include "spanloom/text/unicode.hpp"
#include "spanloom/text/word_set.hpp"

namespace spanloom::text {
namespace {

constexpr std::array<std::string_view, 14> kNames = {
    "hyphens",  "hanging", "slashes", "apostrophes", "elision", "periods", "ordinals",
    "initials", "commas",  "colons",  "ampersands",  "percent", "plus",    "contractions",
};

bool is_capital(Symbol c) { return (c >= 'A' && c <= 'Z') || c == kUpper; }
bool is_letter(Symbol c) { return (c >= 'a' && c <= 'z') || c == kLetter || is_capital(c); }
bool is_word(Symbol c) { return is_letter(c) || c == '0' || c == kMark; }

class Joiner {
 public:
  Joiner(std::u32string_view text, std::span<const Symbol> skeleton, const TokenRules& rules)
      : text_(text), s_(skeleton), rules_(rules) {}

  void join(std::vector<Range>& tokens) const {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < tokens.size();) {
      Range own = tokens[i++];
      while (i < tokens.size() && tokens[i].start == own.end) {
        const bool more = i + 1 < tokens.size() && tokens[i + 1].start == tokens[i].end;
        if (more && between(own, tokens[i], tokens[i + 1])) {
          own.end = tokens[i + 1].end;
          i += 2;
        } else if (after(own, tokens[i])) {
          own.end = tokens[i++].end;
        } else {
          break;
        }
      }
      tokens[kept++] = own;
    }
    tokens.resize(kept);
  }

 private:
  using Rules = TokenRules;

  Symbol at(std::size_t i) const { return i < s_.size() ? s_[i] : Symbol{' '}; }
  // The symbol of a token of one character; 0 for longer ones.
  Symbol only(const Range& token) const { return token.end - token.start == 1 ? s_[token.start] : Symbol{0}; }

  // Whether a mark stays with the tokens on both sides, which touch it.
  bool between(const Range& own, const Range& mark, const Range& next) const {
    const Symbol left = s_[own.end - 1], right = s_[next.start];
    const bool words = is_word(left) && is_word(right), digits = left == '0' && right == '0';
    switch (only(mark)) {
      case '-':
        return words && rules_.has(Rules::kHyphens);
      case '/':
        return words && rules_.has(Rules::kSlashes);
      case '.':
        return words && rules_.has(Rules::kPeriods);
      case ',':
        return digits && rules_.has(Rules::kCommas);
      case ':':
        return digits && rules_.has(Rules::kColons);
      case '&':
        return words && rules_.has(Rules::kAmpersands);
      case '\'':
        return words && rules_.has(Rules::kApostrophes);
      default:
        return false;
    }
  }

  // Whether what touches the end of a token belongs to it.
  bool after(const Range& own, const Range& next) const {
    const Symbol left = s_[own.end - 1];
    switch (only(next)) {
      case '-':
        return is_word(left) && at(next.end) == ' ' && rules_.has(Rules::kHanging);
      case '%':
        return left == '0' && rules_.has(Rules::kPercent);
      case '+':
        return is_word(left) && rules_.has(Rules::kPlus);
      case '.':
        return is_word(left) && keeps_period(own, next.end);
      default:
        return rules_.has(Rules::kApostrophes) && is_word(left) && is_clitic(next);
    }
  }

  bool keeps_period(const Range& own, std::size_t after) const {
    const std::u32string_view word = text_.substr(own.start, own.end - own.start);
    if (at(after) == '.') return false;
    if (rules_.abbreviations.contains(std::u32string(word))) return true;
    if (rules_.has(Rules::kPeriods) && word.find(U'.') != std::u32string_view::npos && is_letter(s_[own.end - 1]))
      return true;
    if (at(after) != ' ') return false;
    if (rules_.has(Rules::kInitials) && word.size() == 1 && is_capital(s_[own.start]) && at(after + 1) != ' ')
      return true;
    if (!rules_.has(Rules::kOrdinals) || !is_letter(at(after + 1)) || is_capital(at(after + 1))) return false;
    for (std::size_t i = own.start; i < own.end; ++i) {
      if (s_[i] != '0') return false;
    }
    return true;
  }

  // 's, n't: what the rules cut off.
  bool is_clitic(const Range& token) const {
    if (s_[token.start] == '\'') return token.end - token.start > 1 && is_letter(at(token.start + 1));
    return token.end - token.start == 3 && at(token.start + 1) == '\'' && (at(token.start) | 32) == 'n';
  }

  std::u32string_view text_;
  std::span<const Symbol> s_;
  const TokenRules& rules_;
};

// l'|homme: after an apostrophe between letters.
void cut_elisions(std::span<const Symbol> s, std::vector<Range>& tokens) {
  std::vector<Range> out;
  out.reserve(tokens.size());
  for (Range own : tokens) {
    for (std::uint32_t i = own.start + 1; i + 1 < own.end; ++i) {
      if (s[i] != '\'' || !is_letter(s[i - 1]) || !is_letter(s[i + 1])) continue;
      out.push_back({own.start, i + 1});
      own.start = i + 1;
    }
    out.push_back(own);
  }
  tokens = std::move(out);
}

// can|not, gon|na: words of the Penn Treebank that are cut without a mark.
void cut_contractions(std::u32string_view text, std::span<const Symbol> s, std::vector<Range>& tokens) {
  static const WordSet words("cannot gonna gotta wanna gimme lemme");
  std::vector<Range> out;
  out.reserve(tokens.size());
  for (const Range& own : tokens) {
    if (own.end - own.start > 4 && own.end - own.start < 7 && is_letter(s[own.start]) &&
        words.has_lower(text.substr(own.start, own.end - own.start))) {
      out.push_back({own.start, own.start + 3});
      out.push_back({own.start + 3, own.end});
    } else {
      out.push_back(own);
    }
  }
  tokens = std::move(out);
}

}  // namespace

std::span<const std::string_view> TokenRules::switch_names() { return kNames; }

TokenRules TokenRules::named(std::string_view base, const std::vector<std::string>& switches,
                             const std::vector<std::string>& abbreviations) {
  TokenRules rules;
  if (base == "space")
    rules.base = Base::space;
  else if (base == "punctuation")
    rules.base = Base::punctuation;
  else if (base != "default")
    throw std::invalid_argument("[TokenRules] there is no way to cut texts named '" + std::string(base) +
                                "'; there are default, space and punctuation");
  for (const std::string& name : switches) {
    std::size_t bit = 0;
    while (bit < kNames.size() && kNames[bit] != name) ++bit;
    if (bit == kNames.size()) throw std::invalid_argument("[TokenRules] there is no switch '" + name + "'");
    rules.switches |= 1U << bit;
  }
  std::u32string word;
  for (const std::string& one : abbreviations) {
    decode_utf8(one, word);
    rules.abbreviations.insert(word);
  }
  return rules;
}

void apply_switches(std::u32string_view text, std::span<const Symbol> skeleton, const TokenRules& rules,
                    std::vector<Range>& tokens) {
  if (rules.has(TokenRules::kElision)) cut_elisions(skeleton, tokens);
  if (rules.has(TokenRules::kContractions)) cut_contractions(text, skeleton, tokens);
  if (rules.switches != 0 || !rules.abbreviations.empty()) Joiner(text, skeleton, rules).join(tokens);
}

}  // namespace spanloom::text
