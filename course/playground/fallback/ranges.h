// The algorithms of std::ranges that the library uses, for libc++ before version 15 (emscripten 3.1
// of Debian 12), which has none. Included in front of every source of the playground; nothing where
// the standard library has them.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <version>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 15000
#include <ranges>

namespace std::ranges {

template <class Range, class Test, class Of = identity>
constexpr auto find_if(Range&& range, Test test, Of of = {}) {
  auto at = ranges::begin(range);
  while (at != ranges::end(range) && !std::invoke(test, std::invoke(of, *at))) ++at;
  return at;
}

template <class Range, class Value, class Of = identity>
constexpr auto find(Range&& range, const Value& value, Of of = {}) {
  return ranges::find_if(
      range, [&](const auto& each) { return each == value; }, of);
}

template <class Range, class Test, class Of = identity>
constexpr bool any_of(Range&& range, Test test, Of of = {}) {
  return ranges::find_if(range, test, of) != ranges::end(range);
}

template <class Range, class Test, class Of = identity>
constexpr bool none_of(Range&& range, Test test, Of of = {}) {
  return !ranges::any_of(range, test, of);
}

template <class Range, class Test, class Of = identity>
constexpr bool all_of(Range&& range, Test test, Of of = {}) {
  return !ranges::any_of(
      range, [&](const auto& each) { return !std::invoke(test, each); }, of);
}

template <class Range, class Test, class Of = identity>
constexpr ptrdiff_t count_if(Range&& range, Test test, Of of = {}) {
  ptrdiff_t count = 0;
  for (auto&& each : range) count += std::invoke(test, std::invoke(of, each)) ? 1 : 0;
  return count;
}

// What compares two elements by what `of` gives for them.
template <class Less, class Of>
constexpr auto comparing(Less& less, Of& of) {
  return
      [&](auto&& a, auto&& b) { return std::invoke(less, std::invoke(of, a), std::invoke(of, b)); };
}

template <class Range, class Less = ranges::less, class Of = identity>
constexpr auto max_element(Range&& range, Less less = {}, Of of = {}) {
  return std::max_element(ranges::begin(range), ranges::end(range), ranges::comparing(less, of));
}

template <class Range, class Less = ranges::less, class Of = identity>
constexpr auto min(Range&& range, Less less = {}, Of of = {}) {
  return *std::min_element(ranges::begin(range), ranges::end(range), ranges::comparing(less, of));
}

template <class Range>
constexpr auto minmax(Range&& range) {
  const auto [low, high] = std::minmax_element(ranges::begin(range), ranges::end(range));
  return std::pair(*low, *high);
}

template <class Range, class Less = ranges::less, class Of = identity>
void stable_sort(Range&& range, Less less = {}, Of of = {}) {
  std::stable_sort(ranges::begin(range), ranges::end(range), ranges::comparing(less, of));
}

template <class Range, class Less = ranges::less, class Of = identity>
constexpr void sort(Range&& range, Less less = {}, Of of = {}) {
  std::sort(ranges::begin(range), ranges::end(range), ranges::comparing(less, of));
}

template <class Range, class To>
constexpr void copy(Range&& range, To to) {
  std::copy(ranges::begin(range), ranges::end(range), to);
}

}  // namespace std::ranges
#endif
