#include "spanloom/text/token_trie.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>

#include "arrays.hpp"
#include "bindings.hpp"
#include "spanloom/base/parallel.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace spanloom::bindings {
namespace {

constexpr std::size_t kShard = 4096;  // sentences; a matcher remembers words, so that long ones are quicker

std::vector<Op> operations(const std::vector<std::string>& names) {
  std::vector<Op> ops;
  for (const std::string& name : names) {
    const OpKind kind = op_kind(name);
    if (kind != OpKind::lower && kind != OpKind::digits && kind != OpKind::squeezed && kind != OpKind::shape &&
        kind != OpKind::collapsed) {
      throw nb::value_error(("[TokenTrie] " + name + " does not make one string of one string").c_str());
    }
    ops.push_back({.kind = kind});
  }
  return ops;
}

// Lists of lists of strings, read without copying: the strings live as long as the lists.
struct Texts {
  std::vector<std::string_view> tokens;
  std::vector<std::size_t> ptr{0};

  explicit Texts(const nb::sequence& lists) {
    for (const nb::handle list : lists) {
      for (const nb::handle token : nb::cast<nb::sequence>(list)) {
        Py_ssize_t size = 0;
        const char* text = PyUnicode_AsUTF8AndSize(token.ptr(), &size);
        if (text == nullptr) throw nb::python_error();
        tokens.emplace_back(text, static_cast<std::size_t>(size));
      }
      ptr.push_back(tokens.size());
    }
  }
  std::size_t size() const { return ptr.size() - 1; }
  std::span<const std::string_view> operator[](std::size_t i) const {
    return std::span(tokens).subspan(ptr[i], ptr[i + 1] - ptr[i]);
  }
};

}  // namespace

void bind_token_trie(nb::module_& m) {
  nb::class_<TokenTrie>(m, "TokenTrie", "Entries of one or more tokens, found in text from left to right.")
      .def(
          "__init__",
          [](TokenTrie* self, const std::vector<std::string>& normalise) {
            new (self) TokenTrie(operations(normalise));
          },
          "normalise"_a)
      .def_static(
          "from_state",
          [](const std::vector<std::string>& normalise, const Input<std::uint8_t>& bytes,
             const Input<std::uint64_t>& ends, const Input<std::uint32_t>& parents, const Input<std::uint32_t>& tokens,
             const Input<std::uint32_t>& kinds) {
            StringList words;
            std::size_t from = 0;
            for (std::size_t i = 0; i < ends.size(); ++i) {
              const std::size_t to = ends.data()[i];
              if (to < from || to > bytes.size()) throw nb::value_error("[TokenTrie] the words do not fit together");
              words.push_back({reinterpret_cast<const char*>(bytes.data()) + from, to - from});
              from = to;
            }
            return TokenTrie(operations(normalise), words, copy(parents), copy(tokens), copy(kinds));
          },
          "normalise"_a, "bytes"_a, "ends"_a, "parents"_a, "tokens"_a, "kinds"_a)
      .def(
          "add",
          [](TokenTrie& self, const nb::sequence& entries, const Input<std::uint32_t>& kinds) {
            const Texts texts(entries);
            if (texts.size() != kinds.size()) throw nb::value_error("[TokenTrie] a kind is needed for every entry");
            for (std::size_t i = 0; i < texts.size(); ++i) self.add(texts[i], kinds.data()[i]);
          },
          "entries"_a, "kinds"_a, "Add entries, each a list of tokens, with their kinds.")
      .def_prop_ro("entries", &TokenTrie::entries)
      .def(
          "state",
          [](const TokenTrie& self) {
            std::vector<std::uint8_t> bytes;
            std::vector<std::uint64_t> ends;
            for (std::size_t i = 0; i < self.words().size(); ++i) {
              const std::string_view word = self.words()[i];
              bytes.insert(bytes.end(), word.begin(), word.end());
              ends.push_back(bytes.size());
            }
            return std::make_tuple(
                give(std::move(bytes)), give(std::move(ends)), give(std::vector<std::uint32_t>(self.parents())),
                give(std::vector<std::uint32_t>(self.tokens())), give(std::vector<std::uint32_t>(self.kinds())));
          },
          "Return (bytes, ends, parents, tokens, kinds).")
      .def(
          "match",
          [](const TokenTrie& self, const nb::sequence& sentences, int threads) {
            const Texts texts(sentences);
            std::vector<std::vector<TokenTrie::Match>> found(texts.size());
            {
              const nb::gil_scoped_release release;
              parallel_for((texts.size() + kShard - 1) / kShard, threads, [&](std::size_t shard) {
                TokenTrie::Matcher matcher(self);
                for (std::size_t i = shard * kShard; i < std::min(texts.size(), (shard + 1) * kShard); ++i) {
                  matcher.match(texts[i], found[i]);
                }
              });
            }
            std::vector<std::int64_t> ptr{0};
            std::vector<std::uint32_t> triples;
            for (const auto& matches : found) {
              for (const auto& one : matches) triples.insert(triples.end(), {one.start, one.end, one.kind});
              ptr.push_back(static_cast<std::int64_t>(triples.size() / 3));
            }
            return std::make_tuple(give(std::move(ptr)), give(std::move(triples)));
          },
          "sentences"_a, "threads"_a = 0, "Return (ptr, [start, end, kind] one after the other) of all sentences.");
}

}  // namespace spanloom::bindings
