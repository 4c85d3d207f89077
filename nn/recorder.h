// Recording attention weights. While a Recorder exists, every attention computed on its thread
// reports its weights to it.
//
//   Recorder recorder;
//   model.logits(inputs);
//   for (const AttentionRecord& record : recorder.records(model))
//     … record.name, "encoder.layers.0.attention", and record.weights, (B, H, Tq, Tk) …
//
// The weights are the normaliser's output, before dropout. The fused attention kernel never stores
// them; they are then computed a second time by the unfused operations. The
// model's outputs are bitwise the same with and without a Recorder. Without one, nothing extra is
// computed or stored.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nn/tap.h"

namespace heed::inline HEED_REAL {

// The weights of one attention.
struct AttentionRecord {
  std::string name;  // of the module, as in a checkpoint
  Tensor weights;    // (B, H, Tq, Tk); for a graph's edges: (B, H, T, T), 0 where there is no edge
  // Attention over some axes of a grid: the lengths of all axes, and the attended axes. B then
  // counts the lines along the attended axes, in the order of unfold() in nn/forms/grid.h.
  std::vector<int64_t> grid = {}, axes = {};
};

// As of all taps (nn/tap.h), only the innermost of a thread records.
class Recorder final : public Tap {
 public:
  // Returns the weights of the modules of `model` so far, in the order of computation. A module
  // does not know its name; `model`, which must be the recorded model, provides the names.
  std::vector<AttentionRecord> records(const Module& model) const;

  bool wants(const Module&, Site site) override { return site == Site::weights; }
  Tensor see(const Module& attention, Site, const Tensor& weights) override {
    seen_.emplace_back(&attention, weights.detach());
    return {};
  }

 private:
  std::vector<std::pair<const Module*, Tensor>> seen_;
};

}  // namespace heed::inline HEED_REAL
