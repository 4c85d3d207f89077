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

class CurrentPart {
 public:
  // Until the block ends this thread computes `part`; then what it computed before.
  explicit CurrentPart(const Module& part) : outer_(std::exchange(current_, &part)) {}
  ~CurrentPart() { current_ = outer_; }
  CurrentPart(const CurrentPart&) = delete;
  CurrentPart& operator=(const CurrentPart&) = delete;

  // The innermost, or null.
  static const Module* get() { return current_; }

 private:
  inline static constinit thread_local const Module* current_ = nullptr;
  const Module* outer_;
};

}  // namespace heed::inline HEED_REAL
