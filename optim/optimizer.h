// One step: clip the norm of all gradients, then update every range of parameters by a rule.
//
//   Optimizer optimizer({.lr = 1e-3}, model.parameters());
//   optimizer.zero_grad();
//   backward(loss);
//   optimizer.set_lr(schedule.rate(step));
//   optimizer.step();
//
// Gradients of several backward passes add up: with a loss summed over the targets, step(1.0 /
// targets) after several micro-batches is the step over the large batch. The rules are PyTorch's,
// except that weight decay applies only to tensors of rank ≥ 2 by default: to matrices and
// embeddings, not to biases and the scales of norms.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "core/tensor.h"

namespace heed::inline HEED_REAL {

struct OptimOptions;

// Consecutive elements of parameters. All arrays have the shape (size). Clients do not need it, but
// for a rule of their own (optim/rules.h).
struct ParameterRange {
  int64_t size;  // number of elements
  bool matrix;   // of tensors of rank ≥ 2
  const real* gradients;
  real* parameters;
  std::array<real*, 3> state = {};  // in the order of OptimizerRule::state(), then null
};

// The range in a step.
struct UpdateRange : ParameterRange {
  const OptimOptions& options;  // of the optimizer
  int64_t step;                 // number of the step, from 1
  double lr;                    // learning rate of this step
  double gradient_scale;        // multiplies every gradient
  double weight_decay;          // of these parameters: options.weight_decay or 0
};

// How a step computes new parameters from gradients. One file defines a rule, one line of
// optim/rules.h registers it.
struct OptimizerRule {
  const char* name;  // the word in a config
  // Names of the arrays that it keeps between steps, each of the size of the parameters, zero at
  // first. At most 3.
  std::vector<const char*> (*state)(const OptimOptions& options);
  // Throws InputError for options that contradict each other.
  void (*check)(const OptimOptions& options);
  // Updates one range in place. Ranges of one step run in parallel.
  void (*update)(const UpdateRange& range);
};

namespace optimizers {
extern const OptimizerRule sgd, adam, adamw;  // torch.optim's; optim/rules.h has all
}

// The parameters that weight decay applies to: tensors of rank ≥ 2, or all.
enum class Decay { matrices, all };

// The section [optim].
struct OptimOptions {
  const OptimizerRule* kind = &optimizers::adamw;
  double lr = 1e-3;               // learning rate: the peak of a schedule
  double weight_decay = 0;        // pulls parameters towards 0
  Decay decay = Decay::matrices;  // what weight_decay pulls
  double clip_norm = 0;           // largest norm of all gradients; 0: no limit
  double momentum = 0;            // sgd: fraction of the last update that is kept
  bool nesterov = false;          // sgd: looks ahead along the momentum
  double beta1 = 0.9;             // adam: decay of the mean of gradients
  double beta2 = 0.999;           // adam: decay of the mean of squared gradients
  double epsilon = 1e-8;          // adam: added to the divisor; with 0 it may be 0 / 0
  bool amsgrad = false;           // adam: divides by the largest second moment so far
  double ema = 0;                 // decay of an average of the weights (optim/average.h); 0: none

  void fields(Fields& f);  // visits each, for a config
  // Throws InputError for values out of range and for options that contradict each other.
  void validate() const;
};

class Optimizer {
 public:
  // Optimizes those of the parameters that require a gradient. Throws InputError if there are none,
  // and as OptimOptions::validate() does.
  Optimizer(const OptimOptions& options, std::vector<NamedParameter> parameters);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Clears the gradients. Call it before the first backward of a step.
  void zero_grad();

  // The learning rate of the next step, at first options.lr.
  double lr() const { return lr_; }
  // Throws InputError for a rate that is negative or not finite.
  void set_lr(double lr);

  // Updates every parameter with gradient_scale times its gradient, summed over the processes of a
  // run. If the norm of all gradients (times gradient_scale) exceeds clip_norm, multiplies them by
  // clip_norm / (norm + 1e-6), as PyTorch's clip_grad_norm_ does. Does not change the gradients. A
  // parameter without a gradient has a gradient of zero.
  //
  // Returns the norm before clipping. If it is a NaN or infinite, changes nothing: check it, or
  // training stands still without an error. AnomalyDetector (core/anomaly.h), which is PyTorch's
  // detect_anomaly, finds the operation.
  double step(double gradient_scale = 1);

  // Number of steps that updated the parameters.
  int64_t steps() const { return steps_; }
  void set_steps(int64_t steps) { steps_ = steps; }  // to resume from a checkpoint

  // How the parameters, their gradients and the arrays of the rule lie in memory. A build links one
  // definition: optim/minimal/layout.cpp leaves every tensor where it is, optim/layout.cpp moves
  // all into arrays.
  struct Layout;
  Layout& layout() { return *layout_; }  // of this optimizer
  const Layout& layout() const { return *layout_; }

 private:
  // Defined with Layout. Lays out arrays of these names, zero at first, for all parameters.
  void lay_out(const std::vector<const char*>& state);
  // Returns Σ g² over all gradients of a step. A parameter without a gradient has zeros.
  double sum_of_squared_gradients();
  // Calls f with every range, which may change its parameters and state.
  void update(const std::function<void(const ParameterRange&)>& f);

  const OptimOptions options_;
  std::vector<NamedParameter> parameters_;  // those that require a gradient
  std::shared_ptr<Layout> layout_;
  double lr_ = 0;
  int64_t steps_ = 0;
};

}  // namespace heed::inline HEED_REAL
