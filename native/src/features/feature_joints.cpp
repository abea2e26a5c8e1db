#include <algorithm>

#include "row_chunk.hpp"

namespace spanloom {

// Most conjunctions are over views that have one value for every word.
bool FeatureRows::ask_plain(const Joint& joint, const Padded& sentence, std::int64_t from, std::int64_t to,
                            Chunk& chunk) const {
  std::uint32_t key[kPlain];
  const std::size_t atoms = joint.atoms.size();
  for (std::size_t a = 0; a < atoms; ++a) {
    const Read& atom = joint.atoms[a];
    const WordEntry entry = sentence.at[atom.column][(atom.from_last ? to : from) + atom.offset];
    const std::uint32_t begin = entry[atom.slot], size = entry[atom.slot + 1] - begin;
    if (size != 1) return size == 0;
    key[a] = entry[begin];
  }
  ask(joint, {key, atoms}, chunk);
  return true;
}

void FeatureRows::ask(const Joint& joint, std::span<const std::uint32_t> key, Chunk& chunk) const {
  const std::uint64_t tag = FeatureTable::tag(key);
  if (key.size() > 1) table_->prefetch_filter(joint.index, tag);
  chunk.pending.push_back({joint.index, static_cast<std::uint32_t>(key.size()), tag});
  chunk.keys.insert(chunk.keys.end(), key.begin(), key.end());
}

void FeatureRows::ask_joints(const Plan& plan, const Padded& sentence, std::int64_t from, std::int64_t to,
                             Chunk& chunk) const {
  auto& key = chunk.key;
  for (const Joint& joint : plan.joints) {
    if (joint.plain && ask_plain(joint, sentence, from, to, chunk)) continue;
    const auto values_at = [&](const Read& atom, std::int64_t position) -> std::span<const std::uint32_t> {
      const WordEntry entry = sentence.at[atom.column][position];
      return {entry + entry[atom.slot], entry[atom.slot + 1] - entry[atom.slot]};
    };
    const auto values = [&](const Read& atom) -> std::span<const std::uint32_t> {
      if (atom.column != View::kSize) return values_at(atom, (atom.from_last ? to : from) + atom.offset);
      const auto size = static_cast<std::size_t>(to - from + 1);
      const auto& known = sizes_[atom.slot];
      if (size >= known.size() || known[size] == kNone) return {};
      return {&known[size], 1};
    };
    key.clear();
    if (joint.kind == TemplateKind::sequence) {
      for (std::int64_t position = from; position <= to; ++position) {
        const auto some = values_at(joint.atoms[0], position);
        if (some.empty()) break;
        key.push_back(some[0]);
      }
      if (key.size() == static_cast<std::size_t>(to - from + 1)) ask(joint, key, chunk);
    } else if (joint.kind == TemplateKind::bag) {
      for (const Read& atom : joint.atoms) {
        const auto some = values(atom);
        key.insert(key.end(), some.begin(), some.end());
      }
      std::ranges::sort(key);
      if (!key.empty() && key.back() != kNone) ask(joint, key, chunk);
    } else {
      chunk.lists.clear();
      for (const Read& atom : joint.atoms) chunk.lists.push_back(values(atom));
      each_combination(chunk.lists, key, [&] { ask(joint, key, chunk); });
    }
  }
}

void FeatureRows::sift(Chunk& chunk) const {
  for (Pending& p : chunk.pending) {
    if (p.length < 2) continue;
    if (table_->may_have(p.index, p.tag)) {
      table_->prefetch(p.index, p.tag);
    } else {
      p.index = kNone;
    }
  }
}

void FeatureRows::answer(std::size_t end, Chunk& chunk) const {
  const std::uint32_t* values = chunk.keys.data() + chunk.next_key;
  for (; chunk.next < end; ++chunk.next) {
    const Pending& p = chunk.pending[chunk.next];
    if (p.index != kNone) {
      const std::uint32_t id =
          p.length == 1 ? table_->find(p.index, {values, 1}) : table_->find(p.index, {values, p.length}, p.tag);
      if (id != kNone) chunk.ids.push_back(number(id));
    }
    values += p.length;
  }
  chunk.next_key = static_cast<std::size_t>(values - chunk.keys.data());
}

}  // namespace spanloom
