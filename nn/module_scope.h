// The module that is being computed. Profiles measure the time of each (core/observer.h).
//
//   Tensor Norm::operator()(const Tensor& x) const {
//     const ModuleScope here(*this);
//
// A module does not know its name; the model does (Module::part_names).
#pragma once

#include "core/scope.h"
#include "nn/module.h"

namespace heed::inline HEED_REAL {

// Makes `module` the current one of this thread until the end of the block.
class ModuleScope {
 public:
  explicit ModuleScope(const Module& module) : guard_(current_, &module) {}

  // Returns the innermost module, or null.
  static const Module* current() { return current_; }

 private:
  static inline constinit thread_local const Module* current_ = nullptr;
  ValueGuard<const Module*> guard_;
};

}  // namespace heed::inline HEED_REAL
