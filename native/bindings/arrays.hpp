#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <span>
#include <vector>

namespace spanloom::bindings {

template <class T>
using Input = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using Output = nanobind::ndarray<T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class T>
using View = nanobind::ndarray<nanobind::numpy, const T, nanobind::ndim<1>>;
template <class T>
using Array = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>>;

template <class T>
std::vector<T> copy(const Input<T>& array) {
  return std::vector<T>(array.data(), array.data() + array.size());
}

template <class T>
std::span<const T> span(const Input<T>& array) {
  return {array.data(), array.size()};
}

// A read-only look at memory that `owner` keeps alive.
template <class T>
View<T> view(const std::vector<T>& values, nanobind::handle owner) {
  return View<T>(values.data(), {values.size()}, owner);
}

// Hands a vector over to numpy without copying it.
template <class T>
Array<T> give(std::vector<T>&& values) {
  auto held = std::make_unique<std::vector<T>>(std::move(values));
  T* data = held->data();
  const std::size_t size = held->size();
  nanobind::capsule owner(held.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Array<T>(data, {size}, owner);
}

}  // namespace spanloom::bindings
