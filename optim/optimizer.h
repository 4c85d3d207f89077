// What every optimizer has in common: one step over the parameters of a model, from their
// gradients.
//
//   optimizer->zero_grad();
//   for (each micro-batch) backward(loss, a sum over its targets);
//   const double norm = optimizer->step(schedule.rate(step), 1.0 / targets);
//
// Gradients of several backward passes add up, so that a step over micro-batches is the step over
// the large batch. A step reads the gradients once for their norm, and once more, with everything
// else, to update; both go through memory at its full speed and give the same bits for any number
// of threads. The rules are PyTorch's, but that weight decay is for tensors of rank ≥ 2 alone:
// matrices and embeddings, not biases or the scales of norms.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/fields.h"
#include "optim/arena.h"

namespace heed::inline HEED_REAL {

struct OptimOptions {
  enum class Kind { sgd, adam, adamw };

  Kind kind = Kind::adamw;
  double lr = 1e-3;
  double weight_decay = 0;
  double clip_norm = 1;
  double momentum = 0;
  bool nesterov = false;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  bool amsgrad = false;

  void fields(Fields& f);
  // Throws InputError on values that contradict each other.
  void validate() const;
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Forgets the gradients. Call before the first backward of a step.
  void zero_grad() { arena_.zero_grad(); }

  // Updates every parameter at learning rate `lr` with `gradient_scale` times its gradient, or with
  // less where the norm of all gradients together (times gradient_scale) exceeds clip_norm: then
  // they are multiplied by clip_norm / (norm + 1e-6), as PyTorch's clip_grad_norm_ does. The
  // gradients themselves are left as they are. A parameter that got no gradient has a zero one.
  //
  // Returns the norm before clipping. If that is not finite, nothing has been changed.
  [[nodiscard]] double step(double lr, double gradient_scale = 1);

  // Steps that updated the parameters.
  int64_t steps() const { return steps_; }
  // All else that the next step depends on: tensors that share the optimizer's numbers, named
  // exp_avg.<parameter> and so on.
  std::vector<NamedParameter> state() const;
  // Goes on from a saved state, to the bit. Throws InputError, and changes nothing, unless exactly
  // the names and shapes of state() are given.
  void load_state(int64_t steps, std::span<const NamedParameter> saved);

 protected:
  Optimizer(const OptimOptions& options, std::vector<NamedParameter> parameters);
  // A flat array that belongs to the state, zero at first.
  real* add_state(const std::string& name);

  const OptimOptions options_;
  Arena arena_;

 private:
  // Applies the rule; steps() counts the step at hand. Gradients are to be multiplied by `scale`.
  virtual void update(double lr, double scale) = 0;

  struct State {
    std::string name;
    Handle<Storage> numbers;
  };
  std::vector<State> state_;
  int64_t steps_ = 0;
};

// The optimizer the options name, over those of the parameters that want a gradient. Moves them
// into an arena (see Arena). Throws InputError on options that contradict each other.
std::unique_ptr<Optimizer> make_optimizer(const OptimOptions& options,
                                          std::vector<NamedParameter> parameters);

}  // namespace heed::inline HEED_REAL
