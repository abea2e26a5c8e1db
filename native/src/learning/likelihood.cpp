#include "spanloom/learning/likelihood.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace spanloom {
namespace {

// The columns that the gold has at the sites of each class.
Layout::Support observed_pairs(const CompressedRows& x, const Structures& gold, std::size_t columns) {
  std::vector<std::int64_t> site_ptr{0};
  std::vector<std::uint32_t> site_columns;
  for (std::size_t g = 0; g < x.rows.groups(); ++g) {
    const auto sites = static_cast<std::size_t>(x.rows.group_ptr[g + 1] - x.rows.group_ptr[g]);
    std::vector<std::int32_t> cells(gold.cells.begin() + gold.ptr[g], gold.cells.begin() + gold.ptr[g + 1]);
    std::sort(cells.begin(), cells.end());
    auto cell = cells.begin();
    for (std::size_t t = 0; t < sites; ++t) {
      for (; cell != cells.end() && static_cast<std::size_t>(*cell) < (t + 1) * columns; ++cell) {
        site_columns.push_back(static_cast<std::uint32_t>(static_cast<std::size_t>(*cell) % columns));
      }
      site_ptr.push_back(static_cast<std::int64_t>(site_columns.size()));
    }
  }
  Layout::Support out;
  out.ptr.push_back(0);
  std::vector<std::uint8_t> seen(columns, 0);
  for (std::size_t c = 0; c < x.classes(); ++c) {
    const std::size_t first = out.columns.size();
    for (std::int64_t i = x.class_ptr[c]; i < x.class_ptr[c + 1]; ++i) {
      for (std::int64_t k = site_ptr[x.sites[i]]; k < site_ptr[x.sites[i] + std::size_t{1}]; ++k) {
        if (!seen[site_columns[k]]) out.columns.push_back(site_columns[k]);
        seen[site_columns[k]] = 1;
      }
    }
    std::sort(out.columns.begin() + static_cast<std::ptrdiff_t>(first), out.columns.end());
    for (std::size_t k = first; k < out.columns.size(); ++k) seen[out.columns[k]] = 0;
    out.ptr.push_back(static_cast<std::int64_t>(out.columns.size()));
  }
  return out;
}

FeatureSource make_source(std::shared_ptr<const CompressedRows> x, const StructuredLoss& loss, Tying site_tying,
                          Tying global_tying, bool observed) {
  const Structure& structure = loss.structure();
  const Supervision& supervision = loss.supervision();
  supervision.check(x->rows.group_ptr, structure);
  Layout::Support support;
  if (observed) {
    if (x->bundles() > 0) throw std::invalid_argument("[Likelihood] observed pairs take rows without bundles");
    if (!supervision.masks.empty()) {
      throw std::invalid_argument("[Likelihood] observed pairs take one structure a sentence, not masks");
    }
    support = observed_pairs(*x, supervision.structures, structure.columns());
  }
  return {std::move(x),
          structure.columns(),
          structure.stride(),
          structure.global_cells(),
          std::move(site_tying),
          std::move(global_tying),
          observed ? &support : nullptr,
          loss.threads()};
}

// The pairs of classes, from those of their features.
Layout::Support class_pairs(const CompressedRows& x, const Layout::Support& pairs) {
  const std::size_t features = x.class_of.size();
  if (pairs.ptr.size() != features + 1 || pairs.ptr.front() != 0 ||
      !std::is_sorted(pairs.ptr.begin(), pairs.ptr.end()) ||
      pairs.ptr.back() != static_cast<std::int64_t>(pairs.columns.size())) {
    throw std::invalid_argument("[Likelihood] the pairs do not fit " + std::to_string(features) + " features");
  }
  constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);
  std::vector<std::size_t> first(x.classes(), kUnknown);
  for (std::size_t f = 0; f < features; ++f) {
    std::size_t& known = first[x.class_of[f]];
    if (known == kUnknown) known = f;
    if (!std::equal(pairs.columns.begin() + pairs.ptr[f], pairs.columns.begin() + pairs.ptr[f + 1],
                    pairs.columns.begin() + pairs.ptr[known], pairs.columns.begin() + pairs.ptr[known + 1])) {
      throw std::invalid_argument("[Likelihood] features " + std::to_string(known) + " and " + std::to_string(f) +
                                  " are merged, but have different columns");
    }
  }
  Layout::Support out;
  out.ptr.push_back(0);
  for (const std::size_t f : first) {
    out.columns.insert(out.columns.end(), pairs.columns.begin() + pairs.ptr[f],
                       pairs.columns.begin() + pairs.ptr[f + 1]);
    out.ptr.push_back(static_cast<std::int64_t>(out.columns.size()));
  }
  return out;
}

FeatureSource paired_source(std::shared_ptr<const CompressedRows> x, const StructuredLoss& loss,
                            const Layout::Support& pairs, Tying global_tying) {
  const Structure& structure = loss.structure();
  loss.supervision().check(x->rows.group_ptr, structure);
  const Layout::Support support = class_pairs(*x, pairs);
  return {std::move(x), structure.columns(),     structure.stride(), structure.global_cells(),
          {},           std::move(global_tying), &support,           loss.threads()};
}

}  // namespace

Likelihood::Likelihood(std::shared_ptr<const CompressedRows> x, std::shared_ptr<const Structure> structure,
                       Supervision supervision, const Layout::Support& pairs, Tying global_tying, int threads)
    : loss_(std::move(structure), std::move(supervision), threads),
      source_(paired_source(std::move(x), loss_, pairs, std::move(global_tying))) {}

Likelihood::Likelihood(std::shared_ptr<const CompressedRows> x, std::shared_ptr<const Structure> structure,
                       Supervision supervision, Tying site_tying, Tying global_tying, bool observed, int threads)
    : loss_(std::move(structure), std::move(supervision), threads),
      source_(make_source(std::move(x), loss_, std::move(site_tying), std::move(global_tying), observed)) {}

void Likelihood::check(std::size_t parameters) const {
  if (parameters != size()) {
    throw std::invalid_argument("[Likelihood] expected " + std::to_string(size()) + " parameters but received " +
                                std::to_string(parameters));
  }
}

double Likelihood::loss(std::vector<double>& global_gradient) {
  return loss_.evaluate(
      source_.site_ptr(), source_.global(),
      [&](std::size_t first, std::size_t last, double* out) { source_.scores(first, last, out); },
      [&](std::size_t first, std::size_t last, const double* given) { source_.take(first, last, given); },
      global_gradient);
}

double Likelihood::evaluate(std::span<const double> x, std::span<double> gradient) {
  check(x.size());
  check(gradient.size());
  source_.load(x);
  std::vector<double> global_gradient(source_.global().size());
  const double value = loss(global_gradient);
  source_.backward(global_gradient, gradient);
  return value;
}

double Likelihood::evaluate(const SharedRows& shared, std::span<const float> x, std::span<float> gradient) {
  shared.check(x, gradient, source_.width(), source_.global_parameters());
  source_.load(shared, x);
  std::vector<double> global_gradient(source_.global().size());
  const double value = loss(global_gradient);
  source_.backward(global_gradient, shared, gradient);
  return value;
}

std::vector<float> Likelihood::weights(std::span<const double> x) const {
  check(x.size());
  return source_.weights(x);
}

std::vector<double> Likelihood::pair_weights(std::span<const double> x) const {
  check(x.size());
  return source_.pair_weights(x);
}

std::vector<double> Likelihood::global_weights(std::span<const double> x) const {
  check(x.size());
  return source_.global_weights(x);
}

}  // namespace spanloom
