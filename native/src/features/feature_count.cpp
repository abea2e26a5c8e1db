#include "spanloom/features/feature_count.hpp"

#include <algorithm>
#include <map>

#include "joint_counter.hpp"
#include "spanloom/base/parallel.hpp"

namespace spanloom {
namespace {

// A column of the input by distinct words.
struct Words {
  StringPool distinct;
  std::vector<Id> ids;  // [tokens]
};

// The values of a view: word w of its column has values[ptr[w] .. ptr[w + 1]].
struct ViewValues {
  StringPool pool;
  std::vector<std::size_t> ptr{0};
  std::vector<Id> values;
  Id begin = kNone, end = kNone;  // what stands before and after the sentence; kNone: nothing

  std::span<const Id> of(Id word) const { return {values.data() + ptr[word], ptr[word + 1] - ptr[word]}; }
};

// How often each word of a column is read at an offset, and where first. Words are followed by <s> and </s>.
struct Reads {
  std::vector<Id> counts, first_row;
  std::vector<Id> order;  // words in the order in which they are met
};

// Where a single atom reads: the rows of a part, a column, an offset.
struct Place {
  Part part;
  std::uint32_t index;
  std::uint32_t column;
  std::int32_t offset;
  auto operator<=>(const Place&) const = default;
};

class Counting {
 public:
  Counting(const Program& program, const TokenInput& input, Sites sites, int threads)
      : program_(program), input_(input), sites_(sites), threads_(threads) {}

  FeatureCounts counts(std::shared_ptr<const Program> program);

 private:
  void intern_columns();
  void evaluate_views();
  void count_reads();
  Place place_of(const Template& t) const;
  Reads reads_at(const Place& place) const;
  bool spans(const Template& t) const { return sites_ == Sites::segments && t.part == Part::span; }
  void count_template(const Template& t, Candidates& out) const;
  void count_single(const Template& t, Candidates& out) const;
  void count_joint(const Template& t, Candidates& out) const;
  void count_own(const Template& t, Candidates& out) const;

  // Calls body(row, first token, tokens, position in the sentence) for what every token brings to a part, in order.
  // Where the sites are tokens or gaps, there is one part, the inside.
  template <class Body>
  void each_row(Part part, std::int32_t index, const Body& body) const {
    if (sites_ == Sites::segments) {
      each_segment_row(part, index, body);
      return;
    }
    Id row = 0;
    for (std::size_t s = 0; s < input_.sentences(); ++s) {
      const std::size_t first = static_cast<std::size_t>(input_.sentence_ptr[s]);
      const auto n = static_cast<std::int64_t>(input_.length(s));
      const std::int64_t rows = n + (sites_ == Sites::gaps ? 1 : 0);
      for (std::int64_t i = 0; i < rows; ++i) body(row++, first, n, i);
    }
  }

  template <class Body>
  void each_segment_row(Part part, std::int32_t index, const Body& body) const {
    for (std::size_t s = 0; s < input_.sentences(); ++s) {
      const Lattice lattice = (*input_.lattices)[s];
      const auto first = static_cast<std::size_t>(input_.sentence_ptr[s]);
      const std::int64_t base = input_.lattices->row_base(s);
      for (std::int32_t i = 0; i < lattice.tokens + (part == Part::gap); ++i) {
        const std::int32_t row = lattice.row(part, index, i);
        if (row >= 0) body(static_cast<Id>(base + row), first, lattice.tokens, i);
      }
    }
  }

  void count_span(const Template& t, Candidates& out) const;
  std::span<const Id> values_of(const Atom& atom, std::size_t first, std::int64_t n, std::int64_t i) const;

  const Program& program_;
  const TokenInput& input_;
  const Sites sites_;
  const int threads_;
  std::vector<Words> words_;       // by column
  std::vector<ViewValues> views_;  // by view
  Words own_;
  std::map<Place, Reads> reads_;  // for single atoms
};

void Counting::intern_columns() {
  words_.resize(program_.columns);
  parallel_for(program_.columns + std::size_t{1}, threads_, [&](std::size_t c) {
    Words& words = c < program_.columns ? words_[c] : own_;
    const StringList& strings = c < program_.columns ? input_.columns[c] : input_.own_names;
    if (c == program_.columns && !program_.uses_own()) return;
    words.ids.reserve(strings.size());
    for (std::size_t i = 0; i < strings.size(); ++i) words.ids.push_back(words.distinct.insert(strings[i]));
  });
}

void Counting::evaluate_views() {
  views_.resize(program_.views.size());
  std::int32_t longest = 0;
  for (std::size_t s = 0; sites_ == Sites::segments && s < input_.sentences(); ++s) {
    const Lattice lattice = (*input_.lattices)[s];
    for (std::int32_t i = 0; i < lattice.tokens; ++i) longest = std::max(longest, lattice.longest_from(i));
  }
  parallel_for(views_.size(), threads_, [&](std::size_t v) {
    const View& view = program_.views[v];
    ViewValues& out = views_[v];
    if (view.size()) {
      for (std::int32_t size = 1; size <= longest; ++size) {
        out.values.push_back(out.pool.insert(std::to_string(size)));
        out.ptr.push_back(out.values.size());
      }
      return;
    }
    Transformer transform(program_.resources);
    const StringPool& words = words_[view.column].distinct;
    for (Id w = 0; w < words.size(); ++w) {
      const StringList& values = transform.apply(view.ops, words[w]);
      for (std::size_t i = 0; i < values.size(); ++i) out.values.push_back(out.pool.insert(values[i]));
      out.ptr.push_back(out.values.size());
    }
    if (view.passes_boundary()) {
      out.begin = out.pool.insert(kSentenceBegin);
      out.end = out.pool.insert(kSentenceEnd);
    }
  });
}

Place Counting::place_of(const Template& t) const {
  const bool segments = sites_ == Sites::segments;
  return {segments ? t.part : Part::inside, segments ? t.index : 0, program_.views[t.atoms[0].view].column,
          t.atoms[0].offset};
}

Reads Counting::reads_at(const Place& place) const {
  const Words& words = words_[place.column];
  const Id begin = static_cast<Id>(words.distinct.size());
  Reads reads;
  reads.counts.assign(begin + 2, 0);
  reads.first_row.assign(begin + 2, 0);
  each_row(place.part, static_cast<std::int32_t>(place.index),
           [&](Id row, std::size_t first, std::int64_t n, std::int64_t i) {
             const std::int64_t at = i + place.offset;
             const Id word = at < 0 ? begin : at >= n ? begin + 1 : words.ids[first + static_cast<std::size_t>(at)];
             if (reads.counts[word]++ == 0) {
               reads.first_row[word] = row;
               reads.order.push_back(word);
             }
           });
  return reads;
}

void Counting::count_reads() {
  for (const Template& t : program_.templates) {
    if (t.kind == TemplateKind::conjunction && t.single() && !spans(t)) reads_[place_of(t)];
  }
  std::vector<std::pair<const Place, Reads>*> entries;
  for (auto& entry : reads_) entries.push_back(&entry);
  parallel_for(entries.size(), threads_, [&](std::size_t i) { entries[i]->second = reads_at(entries[i]->first); });
}

// A word that is read k times brings each of its values k times: no need to visit the tokens again.
void Counting::count_single(const Template& t, Candidates& out) const {
  const Atom atom = t.atoms[0];
  const ViewValues& view = views_[atom.view];
  const Reads& reads = reads_.at(place_of(t));
  const std::size_t words = view.ptr.size() - 1;
  std::vector<Id> local(view.pool.size(), kNone);  // value -> place among the candidates
  const auto add = [&](Id value, Id word) {
    if (local[value] == kNone) {
      local[value] = static_cast<Id>(out.keys.size());
      out.keys.push_back(value);
      out.counts.push_back(0);
      out.first_row.push_back(reads.first_row[word]);
    }
    out.counts[local[value]] += reads.counts[word];
  };
  for (const Id word : reads.order) {
    if (word < words) {
      for (std::size_t k = view.ptr[word]; k < view.ptr[word + 1]; ++k) add(view.values[k], word);
    } else if (const Id value = word == words ? view.begin : view.end; value != kNone) {
      add(value, word);
    }
  }
}

void Counting::count_own(const Template& t, Candidates& out) const {
  if (input_.own_ptr.empty()) return;
  std::vector<Id> local(own_.distinct.size(), kNone);
  each_row(t.part, static_cast<std::int32_t>(t.index), [&](Id row, std::size_t first, std::int64_t n, std::int64_t i) {
    const std::int64_t at = i + t.atoms[0].offset;
    if (at < 0 || at >= n) return;
    const std::size_t token = first + static_cast<std::size_t>(at);
    for (auto k = input_.own_ptr[token]; k < input_.own_ptr[token + 1]; ++k) {
      const Id value = own_.ids[static_cast<std::size_t>(k)];
      if (local[value] == kNone) {
        local[value] = static_cast<Id>(out.keys.size());
        out.keys.push_back(value);
        out.counts.push_back(0);
        out.first_row.push_back(row);
      }
      ++out.counts[local[value]];
    }
  });
}

// The values that an atom reads from position i of a sentence.
std::span<const Id> Counting::values_of(const Atom& atom, std::size_t first, std::int64_t n, std::int64_t i) const {
  const ViewValues& view = views_[atom.view];
  const std::int64_t at = i + atom.offset;
  if (at < 0) return {&view.begin, view.begin == kNone ? std::size_t{0} : 1};
  if (at >= n) return {&view.end, view.end == kNone ? std::size_t{0} : 1};
  const Id word = words_[program_.views[atom.view].column].ids[first + static_cast<std::size_t>(at)];
  return view.of(word);
}

void Counting::count_joint(const Template& t, Candidates& out) const {
  JointCounter counter(t, out);
  std::vector<Id> key;
  std::vector<std::span<const Id>> values(t.atoms.size());
  each_row(t.part, static_cast<std::int32_t>(t.index), [&](Id row, std::size_t first, std::int64_t n, std::int64_t i) {
    key.clear();
    if (t.kind == TemplateKind::bag) {
      for (const Atom& atom : t.atoms) {
        if (i + atom.offset < 0 || i + atom.offset >= n) continue;
        const auto some = values_of(atom, first, n, i);
        key.insert(key.end(), some.begin(), some.end());
      }
      std::ranges::sort(key);
      if (!key.empty()) counter.add(key, row);
      return;
    }
    for (std::size_t a = 0; a < t.atoms.size(); ++a) values[a] = values_of(t.atoms[a], first, n, i);
    each_combination(values, key, [&] { counter.add(key, row); });
  });
  counter.flush();
}

void Counting::count_span(const Template& t, Candidates& out) const {
  JointCounter counter(t, out);
  std::vector<Id> key;
  std::vector<std::span<const Id>> values(t.atoms.size());
  for (std::size_t s = 0; s < input_.sentences(); ++s) {
    const Lattice lattice = (*input_.lattices)[s];
    const auto first = static_cast<std::size_t>(input_.sentence_ptr[s]);
    for (std::int32_t i = 0; i < lattice.tokens; ++i) {
      for (std::int32_t segment = lattice.first_segment(i); segment < lattice.first_segment(i + 1); ++segment) {
        const std::int32_t j = lattice.end_of(segment);
        const auto row = static_cast<Id>(input_.lattices->row_base(s) + lattice.span(segment));
        key.clear();
        if (t.kind == TemplateKind::sequence) {
          for (std::int32_t at = i; at < j; ++at) {
            const auto some = values_of(t.atoms[0], first, lattice.tokens, at);
            if (!some.empty()) key.push_back(some[0]);
          }
          if (key.size() == static_cast<std::size_t>(j - i)) counter.add(key, row);
          continue;
        }
        for (std::size_t a = 0; a < t.atoms.size(); ++a) {
          const Atom& atom = t.atoms[a];
          values[a] = program_.views[atom.view].size()
                          ? views_[atom.view].of(static_cast<Id>(j - i - 1))
                          : values_of(atom, first, lattice.tokens, atom.from_last ? j - 1 : i);
        }
        each_combination(values, key, [&] { counter.add(key, row); });
      }
    }
  }
  counter.flush();
}

void Counting::count_template(const Template& t, Candidates& out) const {
  if (t.kind == TemplateKind::bias) {
    Id rows = 0, first_row = 0;
    each_row(t.part, static_cast<std::int32_t>(t.index), [&](Id row, auto&&...) {
      if (rows++ == 0) first_row = row;
    });
    if (rows > 0) {
      out.counts.push_back(rows);
      out.first_row.push_back(first_row);
    }
  } else if (spans(t)) {
    count_span(t, out);
  } else if (t.kind == TemplateKind::own) {
    count_own(t, out);
  } else if (t.single()) {
    count_single(t, out);
  } else {
    count_joint(t, out);
  }
}

FeatureCounts Counting::counts(std::shared_ptr<const Program> program) {
  intern_columns();
  evaluate_views();
  count_reads();
  FeatureCounts counts{std::move(program), input_.rows(sites_), {}, {}};
  counts.candidates.resize(program_.templates.size());
  parallel_for(counts.candidates.size(), threads_,
               [&](std::size_t t) { count_template(program_.templates[t], counts.candidates[t]); });
  for (ViewValues& view : views_) counts.pools.push_back(std::move(view.pool));
  counts.pools.push_back(std::move(own_.distinct));
  return counts;
}

}  // namespace

FeatureCounts count_features(std::shared_ptr<const Program> program, const TokenInput& input, Sites sites,
                             int threads) {
  program->check();
  input.check(*program, sites);
  return Counting(*program, input, sites, threads).counts(program);
}

}  // namespace spanloom
