// The layers of a model and the cost of a training step, before anything is trained.
//
// The costs are those of a real step of the Trainer on one micro-batch of the largest shapes that
// the data has, in a scope with shapes_only (core/scope.h): the step checks, records and allocates
// as always, but computes no value and touches no memory. So a model larger than the machine is
// summarised at once too.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/config/experiment.h"
#include "apps/inference/padded.h"

namespace heed {

// FLOPs of matrix products, a multiplication and an addition counted as two. The rest of a step
// (norms, activations, softmax, the optimizer) is left out, as is usual: it takes a few operations
// per element, where a matrix product takes D or more. Of attention, only pairs that a
// window or a causal mask lets its kernel skip are left out.
struct Flops {
  double forward = 0, backward = 0;

  double total() const { return forward + backward; }
  bool operator==(const Flops&) const = default;
};

struct ParameterLine {
  std::string name;  // within its part: query.weight
  Shape shape;
  bool trains;  // not frozen

  bool operator==(const ParameterLine&) const = default;
};

struct SummaryPart {
  std::string name;        // decoder.layers.0-3.attention
  int64_t layers = 1;      // how many layers have this same part
  int64_t parameters = 0;  // elements in one layer
  Flops flops = {};        // of a training step in one layer
  std::vector<ParameterLine> lines = {};
};

// The batches that the costs are counted for: full, of the longest sequences. Where lengths vary
// the costs are an upper bound.
struct StepSizes {
  int64_t batch = 0, micro_batches = 1;
  int64_t source = 0, input = 0;  // longest source (0: none) and input
  int64_t evaluation_batch = 0;   // 0: nothing to evaluate on
};

// In bytes, of each rank.
struct Memory {
  double parameters = 0, gradients = 0, optimizer = 0;
  double construction = 0;  // copies while the optimizer is made, or rank 0 saves those of all
  double batches = 0;       // token ids and features of a step
  double activations = 0;   // of a micro-batch, at the peak of its step
  double backward = 0;      // their gradients and temporaries, at the same moment
  double evaluation = 0;    // of a batch of an evaluation, or of a measure, in place of these two

  // Parameters, gradients and optimizer state.
  double lasting() const { return parameters + gradients + optimizer; }
  double peak() const;
};

struct Summary {
  std::vector<SummaryPart> parts;
  int64_t parameters = 0, trained = 0;  // elements; without frozen ones
  StepSizes step;
  Flops flops;  // of a training step
  Memory memory;
  double available = 0;  // available_memory()
};

// Throws InputError where model and data do not fit, as Trainer does, and for a model too large to
// address.
Summary summarize(const Experiment& experiment, const Corpus& corpus);

// Returns "3.5 GFLOP", "-" for 0.
std::string flops_text(double flops);
// Returns "3.5 GiB", "unknown" for infinity.
std::string bytes_text(double bytes);
// Returns "32 pairs of 80 and 78", "4 × 32 sequences of 64".
std::string sizes_text(const StepSizes& step);

// Returns parts, shapes, parameters and costs as text for a terminal.
std::string table(const Summary& summary);

// Throws InputError if training needs more memory than the machine has: with both sizes, what needs
// most and the keys that lower it.
void check_memory(const Summary& summary);

// Throws InputError if an evaluation of a split needs more than `available` bytes besides the
// weights. It has batches of train.evaluate_batch_size examples, padded to the longest of the
// split.
void check_evaluation_memory(const Experiment& experiment, const Corpus& corpus,
                             const std::string& split, double available);

// Throws InputError if reading the longest 32 of these lines at once, as `heed generate` and `heed
// evaluate --input` do, needs more than `available` bytes besides the weights. A language model
// computes the logits of all positions, an encoder-decoder encodes, a classifier classifies.
// `stride`: of the windows in which a language model reads lines longer than its context
// (apps/inference/generation.h); 0: it reads the end of such a line.
void check_lines_memory(const Experiment& experiment, const Corpus& corpus,
                        std::span<const Sequence> lines, double available, int64_t stride = 0);

}  // namespace heed
