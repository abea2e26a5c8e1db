#include "spanloom/features/feature_program.hpp"

#include <algorithm>
#include <stdexcept>

namespace spanloom {
namespace {

void require(bool holds, const std::string& message) {
  if (!holds) throw std::invalid_argument(message);
}

void check_op(const Op& op, std::size_t resources) {
  const bool affix = op.kind == OpKind::prefix || op.kind == OpKind::suffix || op.kind == OpKind::ngrams;
  require(!affix || (1 <= op.low && op.low <= op.high),
          "lengths must satisfy 1 <= low <= high, got " + std::to_string(op.low) + " .. " + std::to_string(op.high));
  const bool named = op.kind == OpKind::lookup || op.kind == OpKind::cluster;
  require(!named || op.resource < resources,
          "resource " + std::to_string(op.resource) + " of " + std::to_string(resources) + " does not exist");
  require(op.kind != OpKind::cluster || !op.lengths.empty(), "a cluster view needs at least one length");
}

}  // namespace

bool Program::uses_own() const {
  return std::ranges::any_of(templates, [](const Template& t) { return t.kind == TemplateKind::own; });
}

SegmentLayout Program::layout() const {
  SegmentLayout layout;
  for (const Template& t : templates) {
    if (t.part == Part::left) layout.left = std::max(layout.left, t.index + 1);
    if (t.part == Part::right) layout.right = std::max(layout.right, t.index + 1);
    if (t.part == Part::inside) layout.inside = true;
    if (t.part == Part::gap) layout.gaps = true;
  }
  return layout;
}

void Program::check() const {
  for (const View& view : views) {
    require(view.size() || view.column < columns,
            "column " + std::to_string(view.column) + " of " + std::to_string(columns) + " does not exist");
    for (const Op& op : view.ops) check_op(op, resources.size());
  }
  for (const Template& t : templates) {
    const std::size_t labels = t.kind == TemplateKind::conjunction ? t.atoms.size() : 1;
    require(t.labels.size() == labels,
            "a template has " + std::to_string(t.labels.size()) + " labels instead of " + std::to_string(labels));
    require(t.kind == TemplateKind::bias ? t.atoms.empty() : !t.atoms.empty(), "a template has the wrong atoms");
    require((t.kind != TemplateKind::own && t.kind != TemplateKind::sequence) || t.atoms.size() == 1,
            "a template of own features or of a sequence has more than one atom");
    require((t.kind == TemplateKind::sequence) <= (t.part == Part::span), "a sequence must belong to whole segments");
    const bool indexed = t.part == Part::left || t.part == Part::right;
    require(indexed ? 1 <= t.index && t.index <= kMaxOffset : t.index == 0, "a template has the wrong index");
    for (const Atom& atom : t.atoms) {
      require(t.kind == TemplateKind::own || atom.view < views.size(),
              "view " + std::to_string(atom.view) + " of " + std::to_string(views.size()) + " does not exist");
      require(-kMaxOffset <= atom.offset && atom.offset <= kMaxOffset,
              "offset " + std::to_string(atom.offset) + " is not within -100 .. 100");
      require(t.kind == TemplateKind::own || !views[atom.view].size() ||
                  (t.kind == TemplateKind::conjunction && t.part == Part::span && atom.offset == 0),
              "the size of a segment is read where there is none");
      require(t.kind != TemplateKind::bag || atom.view == t.atoms.front().view, "a bag mixes views");
    }
  }
}

}  // namespace spanloom
