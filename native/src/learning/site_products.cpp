#include "spanloom/learning/site_products.hpp"

#include <algorithm>
#include <cmath>

namespace spanloom {
namespace {

constexpr std::size_t kShort = 256;  // sites

}  // namespace

SiteProducts::SiteProducts(const SparseRows& rows, const std::vector<float>& weight) {
  constexpr std::int64_t kNone = -1;
  struct Use {
    std::size_t site;
    float value;
    std::int64_t next;  // another use of the feature
  };
  std::vector<std::int64_t> head(weight.size(), kNone);
  std::vector<Use> uses;
  for (std::size_t g = 0; g < rows.groups(); ++g) {
    const auto first = static_cast<std::size_t>(rows.group_ptr[g]);
    const std::size_t sites = static_cast<std::size_t>(rows.group_ptr[g + 1]) - first;
    if (sites <= kShort) {
      uses.clear();
      products_.resize(products_.size() + sites * sites, 0.0F);
      float* own = products_.data() + ptr_.back();
      for (std::size_t t = 0; t < sites; ++t) {
        for (std::int64_t e = rows.row_ptr[first + t]; e < rows.row_ptr[first + t + 1]; ++e) {
          const std::uint32_t f = rows.ids[e];
          const float value = rows.values.empty() ? 1.0F : rows.values[e];
          uses.push_back({t, value, head[f]});
          head[f] = static_cast<std::int64_t>(uses.size()) - 1;
          for (std::int64_t u = head[f]; u != kNone; u = uses[u].next) {
            own[t * sites + uses[u].site] += weight[f] * value * uses[u].value;
          }
        }
      }
      for (std::int64_t e = rows.row_ptr[first]; e < rows.row_ptr[first + sites]; ++e) head[rows.ids[e]] = kNone;
    }
    ptr_.push_back(static_cast<std::int64_t>(products_.size()));
  }
}

double SiteProducts::square(std::size_t g, const std::vector<float>& change, std::size_t stride, float least) {
  return stride == 4   ? sum<4>(g, change, stride, least)
         : stride == 8 ? sum<8>(g, change, stride, least)
                       : sum<0>(g, change, stride, least);
}

template <std::size_t Stride>
double SiteProducts::sum(std::size_t g, const std::vector<float>& change, std::size_t given, float least) {
  const std::size_t stride = Stride > 0 ? Stride : given;
  const std::size_t sites = change.size() / stride;
  const float* own = products_.data() + ptr_[g];
  changed_.clear();
  double total = 0;
  for (std::size_t t = 0; t < sites; ++t) {
    const float* row = &change[t * stride];
    float most = 0;
    for (std::size_t k = 0; k < stride; ++k) most = std::max(most, std::abs(row[k]));
    if (most < least) continue;
    changed_.push_back(t);
    float row_sum = 0;
    for (const std::size_t u : changed_) {
      const float* other = &change[u * stride];
      float product = 0;
      for (std::size_t k = 0; k < stride; ++k) product += row[k] * other[k];
      row_sum += (u == t ? 1.0F : 2.0F) * own[t * sites + u] * product;
    }
    total += static_cast<double>(row_sum);
  }
  return total;
}

}  // namespace spanloom
