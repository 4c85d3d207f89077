// Watching attention: while a Recorder lives, every attention that this thread computes hands it
// its weights.
//
//   Recorder watching;
//   model.logits(inputs);
//   for (const AttentionRecord& record : watching.records(model))
//     … record.name, "encoder.layers.0.attention", and record.weights, (B, H, Tq, Tk) …
//
// The weights are those that the normaliser gives, before dropout. Where the fused kernel computes
// attention they never exist: they are then computed once more by the operations that define them,
// without gradients. The model's own numbers are the same, to the bit, whether it is watched or
// not; where nobody watches, nothing is computed and nothing is kept.
#pragma once

#include <string>
#include <vector>

#include "nn/module.h"

namespace heed::inline HEED_REAL {

struct AttentionRecord {
  std::string name;  // of the module, as in a checkpoint
  Tensor weights;    // (B, H, Tq, Tk); of the edges of a graph: (B, H, T, T), 0 where there is none
  // Attention over some axes of a grid: the lengths of all its axes, and the chosen ones. Then B
  // counts the lines along these, as unfold() of nn/grid.h orders them.
  std::vector<int64_t> grid = {}, axes = {};
};

// Watches the thread that makes it, which must be the one that ends it, last come, first gone. Of
// two the inner one alone sees what is computed.
class Recorder {
 public:
  Recorder();
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // What the parts of `model` have weighed so far, in the order of computation. A module does not
  // know its name: the model, which must be the one that was watched, tells it here.
  std::vector<AttentionRecord> records(const Module& model) const;

  // For those who compute attention: who watches this thread, or null; and what they see.
  static Recorder* active();
  void record(const Module& who, AttentionRecord what);

 private:
  struct Seen {
    const Module* who;
    AttentionRecord what;
  };
  std::vector<Seen> seen_;
  Recorder* outer_;
};

}  // namespace heed::inline HEED_REAL
