#include "core/autograd.h"
#include "nn/models.h"
#include "optim/optimizer.h"

namespace heed::course {

// One step of training on all micro-batches together. Returns the mean loss of their targets.
// model.loss(inputs[i], targets[i], Reduction::sum) is the sum over the targets of micro-batch i
// that are not `ignored`.
double training_step(const Model& model, Optimizer& optimizer, const std::vector<Inputs>& inputs,
                     const std::vector<Ids>& targets) {
  double loss = 0, count = 0;
  optimizer.zero_grad();
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (int64_t k = 0; k < targets[i].size(); ++k) count += targets[i][k] != ignored;
    const Tensor sum = model.loss(inputs[i], targets[i], Reduction::sum);
    loss += sum.item();
    backward(sum);
  }
  optimizer.step(1 / count);
  return loss / count;
}

}  // namespace heed::course
