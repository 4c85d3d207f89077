#include "optim/overlapped_sum.h"

#include <algorithm>
#include <exception>

#include "core/autograd.h"

namespace heed::inline HEED_REAL {
namespace {

// Finds out which gradients are final. Backward adds to the gradient of a parameter as often as
// operations read it. A node of the graph refers to the slots of its inputs until it has run, so a
// gradient is final when nothing but its parameter refers to its slot.
class FinalGradients final : public Observer {
 public:
  explicit FinalGradients(Arena& arena) : arena_(arena) {}

  void backward_finished(const Node& node, const Slot&) noexcept override {
    if (error) return;
    try {
      Slot** const end = node.inputs + node.input_count;
      for (Slot** input = node.inputs; input < end; ++input) {
        const Slot* const slot = *input;
        if (!slot || !slot->bound || !slot->written || std::find(node.inputs, input, slot) != input)
          continue;
        const auto of_node = std::count(input, end, slot);  // which is released after this
        if (slot->references() == of_node + 1) arena_.mark_final(*slot);
      }
      arena_.advance_sum();
    } catch (...) {
      error = std::current_exception();
    }
  }

  std::exception_ptr error;

 private:
  Arena& arena_;
};

}  // namespace

void begin_sum_in_backward(const Tensor& loss, Arena& arena) {
  FinalGradients gradients(arena);
  {
    const ObserverScope here(gradients);
    backward(loss);
  }
  if (gradients.error) std::rethrow_exception(gradients.error);
}

}  // namespace heed::inline HEED_REAL
