// Finds the operation that is the first to compute something that is not finite.
//
//   AnomalyDetector detector;
//   const ObserverScope here(detector);
//   backward(model.loss(inputs, targets));  // throws Error if a result or a gradient is not finite
#pragma once

#include "core/observer.h"

namespace heed::inline HEED_REAL {

// Makes an operation throw Error if its result contains a NaN, or an infinity although no input
// does (masks write -infinity on purpose), and makes its backward throw Error if a gradient that it
// wrote is not finite. The error names the operation, its shapes and the position.
class AnomalyDetector final : public Observer {
 public:
  void op_finished(const char* name, const Tensor& y, std::span<const Tensor> inputs,
                   const Node* node) override;
  void backward_finished(const Node& node, const Slot& output) override;
};

}  // namespace heed::inline HEED_REAL
