// Masks and positional encodings as ONNX operators.
#pragma once

#include "lab/onnx/graph.h"
#include "nn/forms/mixings.h"

namespace heed::onnx {

// What attention may know of the positions of queries and keys.
struct PositionContext {
  Value keep = "";       // bool, broadcasts to (B, H, Tq, Tk); "": attend to all
  Value positions = "";  // of self-attention: 0 … T - 1, (T); "": they have no effect
  Value distances = "";  // of self-attention: i - j, (T, T); "": they have no effect
  bool causal = false;
};

// Returns 0 … T - 1 for x (B, T, …).
Value positions_of(Graph& g, const Value& x);
// Returns whether each key of x (B, T, …) is real and no padding: (B, 1, 1, T)
Value real_keys(Graph& g, const Value& x, const Value& lengths);
// Returns the context of self-attention over x (B, T, …). `real`: see real_keys(), or "".
PositionContext self_context(Graph& g, const Value& x, const ModelOptions& block,
                             const Value& real = "");

// Returns x with the positions φ of a sequence, or of a grid, added or concatenated: (B, T, D) for
// D = dim. `name` is that of learned positions.
Value with_positions(Graph& g, const Value& x, const std::string& name, int64_t dim,
                     const PositionalOptions& options, const std::vector<int64_t>& grid);
// Returns queries or keys x (B, H, T, K) with rotary positions.
Value rotated(Graph& g, const Value& x, int64_t width, const PositionalOptions& options,
              const PositionContext& context);
// Returns scores (B, H, T, T) with the bias of ALiBi or of relative positions of a layer.
Value biased(Graph& g, const Value& scores, const std::string& layer, int64_t heads,
             const PositionalOptions& options, const PositionContext& context);

}  // namespace heed::onnx
