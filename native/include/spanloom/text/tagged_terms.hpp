#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanloom {

// Running text with marked terms, joined with the words and tags of the same text, as the GENIA term corpus has them:
//
//   markup  <sentence><cons lex="IL-2_gene" sem="G#DNA_N/A">IL-2 gene</cons> binds.</sentence>
//   tagged  IL-2/NN gene/NN binds/VBZ ./.
//
// All views point into the two sources, which must live as long as the result. Everything is ASCII.
struct TaggedTerms {
  struct Sentence {
    std::size_t text_begin, text_end;    // in `text`
    std::size_t token_begin, token_end;  // in `tokens`
    std::size_t term_begin, term_end;    // in `terms`
  };
  struct Token {
    std::uint32_t start, end;  // characters of its sentence
    std::uint32_t word;        // in `tags`
  };
  struct Term {
    std::uint32_t first, last;  // tokens of its sentence, half-open
    int label;                  // what `label_of` says
    std::string_view lex, sem;  // as they are in the markup
  };

  std::string text;  // of all sentences, without anything between them
  std::vector<Sentence> sentences;
  std::vector<Token> tokens;
  std::vector<Term> terms;  // those that are wanted, an outer one before those inside it
  std::vector<std::string_view> tags;
};

// Cuts the text of an article into tokens: at white space, between the words of `tagged`, at the edges of terms and, if
// `inner`, around hyphens and slashes. `label_of` gives the number of a class, or -1 for classes that are not wanted.
//
// Nothing comes back for an article that is in any way out of the ordinary: other elements within a sentence, entities
// beside XML's five, characters that are not ASCII, terms that begin or end with white space, and above all a line of
// `tagged` that does not have the characters of its sentence. Linear time.
std::optional<TaggedTerms> join_tagged_terms(std::string_view markup, std::string_view tagged,
                                             const std::function<int(std::string_view)>& label_of, bool inner);

// Replaces XML's five entities; nothing if there are others.
std::optional<std::string> without_entities(std::string_view text);

}  // namespace spanloom
