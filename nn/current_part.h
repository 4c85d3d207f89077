// Which part of a model computes: for profiles, which tell the time of each (core/observer.h).
//
//   Tensor Norm::operator()(const Tensor& x) const {
//     const CurrentPart here(*this);
//
// Modules do not know their names: who asks gets the module, and the model names it
// (Module::name_of).
#pragma once

#include <utility>

#include "nn/module.h"

namespace heed::inline HEED_REAL {

namespace detail {
inline constinit thread_local const Module* current_part = nullptr;
}  // namespace detail

class CurrentPart {
 public:
  // Until the block ends this thread computes `part`; then what it computed before.
  explicit CurrentPart(const Module& part) : outer_(std::exchange(detail::current_part, &part)) {}
  ~CurrentPart() { detail::current_part = outer_; }
  CurrentPart(const CurrentPart&) = delete;
  CurrentPart& operator=(const CurrentPart&) = delete;

  // The innermost, or null.
  static const Module* get() { return detail::current_part; }

 private:
  const Module* outer_;
};

}  // namespace heed::inline HEED_REAL
