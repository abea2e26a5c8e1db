#include "spanloom/text/tagged_terms.hpp"

#include <array>
#include <utility>

namespace spanloom {
namespace {

constexpr std::array<std::pair<std::string_view, char>, 5> kEntities{
    {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}}};

// The character of the entity that `text` begins with, and its length there; length 0 if it is none of the five.
std::pair<char, std::size_t> entity(std::string_view text) {
  for (const auto& [name, character] : kEntities)
    if (text.starts_with(name)) return {character, name.size()};
  return {'\0', 0};
}

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool is_usual(char c) { return (c >= ' ' && static_cast<unsigned char>(c) < 0x80) || is_space(c); }

// Takes ` name="value"` from the front of `rest`, if it is there; false for a value that an ordinary article has not.
bool take_attribute(std::string_view& rest, std::string_view name, std::string_view& value) {
  if (!rest.starts_with(name)) return true;
  const std::size_t end = rest.find('"', name.size());
  if (end == std::string_view::npos) return false;
  value = rest.substr(name.size(), end - name.size());
  rest.remove_prefix(end + 1);
  for (const char c : value)
    if (c < ' ' || c == '<' || c == '>' || static_cast<unsigned char>(c) >= 0x80) return false;
  return true;
}

// A term of the sentence at hand, in characters.
struct Marked {
  std::uint32_t start, end;
  std::string_view lex, sem;
};

class Joiner {
 public:
  Joiner(std::string_view markup, std::string_view tagged, const std::function<int(std::string_view)>& label_of,
         bool inner)
      : markup_(markup), tagged_(tagged), label_of_(label_of), inner_(inner) {
    out_.text.reserve(markup.size() / 2);
  }

  std::optional<TaggedTerms> run() {
    static constexpr std::string_view kOpen = "<sentence>";
    for (std::size_t at = markup_.find("<sentence"); at != std::string_view::npos; at = markup_.find("<sentence", at)) {
      if (!markup_.substr(at).starts_with(kOpen)) return std::nullopt;
      at += kOpen.size();
      const std::size_t begin = out_.text.size();
      if (!read_markup(at) || !read_words() || !match_words(begin) || !cut(begin)) return std::nullopt;
    }
    skip_blank_lines();
    if (line_ < tagged_.size()) return std::nullopt;
    return std::move(out_);
  }

 private:
  // Reads text and terms up to and with </sentence>; `at` comes to stand after it.
  bool read_markup(std::size_t& at) {
    const std::size_t begin = out_.text.size();
    marked_.clear();
    open_.clear();
    while (at < markup_.size()) {
      const char c = markup_[at];
      if (c == '<') {
        std::string_view rest = markup_.substr(at);
        const auto here = static_cast<std::uint32_t>(out_.text.size() - begin);
        if (rest.starts_with("<cons")) {
          rest.remove_prefix(5);
          Marked term{here, here, {}, {}};
          if (!take_attribute(rest, " lex=\"", term.lex) || !take_attribute(rest, " sem=\"", term.sem)) return false;
          if (!rest.starts_with('>')) return false;
          at = markup_.size() - rest.size() + 1;
          open_.push_back(marked_.size());
          marked_.push_back(term);
        } else if (rest.starts_with("</cons>")) {
          if (open_.empty()) return false;
          marked_[open_.back()].end = here;
          open_.pop_back();
          at += 7;
        } else {
          at += 11;
          return rest.starts_with("</sentence>") && open_.empty();
        }
      } else if (c == '&') {
        const auto [character, length] = entity(markup_.substr(at));
        if (length == 0) return false;
        out_.text.push_back(character);
        at += length;
      } else {
        if (c == '>' || !is_usual(c)) return false;
        out_.text.push_back(c);
        ++at;
      }
    }
    return false;
  }

  void skip_blank_lines() {
    while (line_ < tagged_.size() && is_space(tagged_[line_])) ++line_;
  }

  // Reads one line of words: letters_[k] is a letter of word word_of_[k]. A piece without a slash is a part of the next
  // word; at the end of the line it is a word with the tag X.
  bool read_words() {
    letters_.clear();
    word_of_.clear();
    skip_blank_lines();
    if (line_ == tagged_.size()) return false;
    while (line_ < tagged_.size() && tagged_[line_] != '\n' && tagged_[line_] != '\r') {
      if (is_space(tagged_[line_])) {
        ++line_;
        continue;
      }
      const std::size_t begin = line_;
      std::size_t slash = std::string_view::npos;
      for (; line_ < tagged_.size() && !is_space(tagged_[line_]); ++line_) {
        if (!is_usual(tagged_[line_])) return false;
        if (tagged_[line_] == '/') slash = line_;
      }
      // A word without a tag, or a tag without a word.
      if (slash == begin || slash + 1 == line_) return false;
      const bool joins = slash == std::string_view::npos;
      const std::size_t end = joins ? line_ : slash;
      letters_.append(tagged_.substr(begin, end - begin));
      word_of_.resize(letters_.size(), static_cast<std::uint32_t>(out_.tags.size()));
      if (!joins) out_.tags.push_back(tagged_.substr(slash + 1, line_ - slash - 1));
    }
    if (!word_of_.empty() && word_of_.back() == out_.tags.size()) out_.tags.push_back("X");
    return true;
  }

  // owner_[i]: the word of character i of the sentence; kSpace for white space. False if letters differ.
  bool match_words(std::size_t begin) {
    const std::size_t length = out_.text.size() - begin;
    owner_.resize(length);
    std::size_t k = 0;
    for (std::size_t i = 0; i < length; ++i) {
      const char c = out_.text[begin + i];
      if (is_space(c)) {
        owner_[i] = kSpace;
        continue;
      }
      if (k == letters_.size() || letters_[k] != c) return false;
      owner_[i] = word_of_[k++];
    }
    return k == letters_.size();
  }

  // Makes the tokens and the wanted terms of the sentence whose text begins at `begin`.
  bool cut(std::size_t begin) {
    const std::size_t length = owner_.size();
    const std::string_view text = std::string_view(out_.text).substr(begin);
    edge_.assign(length + 1, 0);
    const std::size_t first_term = out_.terms.size(), first_token = out_.tokens.size();
    for (const Marked& term : marked_) {
      const int label = term.sem.empty() ? -1 : label_of_(term.sem);
      if (label < 0) continue;
      if (term.start == term.end || owner_[term.start] == kSpace || owner_[term.end - 1] == kSpace) return false;
      if (!without_entities(term.lex)) return false;
      edge_[term.start] = edge_[term.end] = 1;
      out_.terms.push_back({term.start, term.end, label, term.lex, term.sem});
    }
    // number_[i]: tokens that begin before character i.
    number_.resize(length + 1);
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < length; ++i) {
      number_[i] = count;
      if (owner_[i] == kSpace) continue;
      const bool fresh =
          i == 0 || owner_[i] != owner_[i - 1] || edge_[i] || (inner_ && (is_inner(text[i]) || is_inner(text[i - 1])));
      const auto here = static_cast<std::uint32_t>(i);
      if (fresh) {
        out_.tokens.push_back({here, here + 1, owner_[i]});
        ++count;
      } else {
        out_.tokens.back().end = here + 1;
      }
    }
    number_[length] = count;
    for (std::size_t k = first_term; k < out_.terms.size(); ++k) {
      TaggedTerms::Term& term = out_.terms[k];
      term.first = number_[term.first];
      term.last = number_[term.last];
    }
    out_.sentences.push_back({begin, out_.text.size(), first_token, out_.tokens.size(), first_term, out_.terms.size()});
    return true;
  }

  static bool is_inner(char c) { return c == '-' || c == '/'; }

  static constexpr std::uint32_t kSpace = 0xFFFFFFFF;

  std::string_view markup_, tagged_;
  const std::function<int(std::string_view)>& label_of_;
  bool inner_;
  std::size_t line_ = 0;  // where in `tagged_` we are
  TaggedTerms out_;
  std::vector<Marked> marked_;
  std::vector<std::size_t> open_;
  std::string letters_;
  std::vector<std::uint32_t> word_of_, owner_, number_;
  std::vector<char> edge_;
};

}  // namespace

std::optional<TaggedTerms> join_tagged_terms(std::string_view markup, std::string_view tagged,
                                             const std::function<int(std::string_view)>& label_of, bool inner) {
  return Joiner(markup, tagged, label_of, inner).run();
}

std::optional<std::string> without_entities(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '&') {
      plain.push_back(text[at++]);
      continue;
    }
    const auto [character, length] = entity(text.substr(at));
    if (length == 0) return std::nullopt;
    plain.push_back(character);
    at += length;
  }
  return plain;
}

}  // namespace spanloom
