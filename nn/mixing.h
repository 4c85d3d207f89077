// The sublayer in which the positions of a sequence exchange information: attention, or a
// replacement. It reads the vectors x of the sequence, a mask, and what was kept of the positions
// before x.
#pragma once

#include <memory>
#include <vector>

#include "core/inputs.h"
#include "core/mask.h"
#include "nn/module.h"

namespace heed::inline HEED_REAL {

// Keys (B, Tk, H·K) and values (B, Tk, H·V) of attention. The first `length` of Tk positions are
// filled: a cache has room for more.
struct KeyValues {
  Tensor keys, values;  // no tensors: there are none yet
  int64_t length = 0;   // filled positions
};

// The keys and values of the positions that a decoder has read before.
class Past {
 public:
  virtual ~Past() = default;
  virtual int64_t length() const = 0;  // positions read so far, the same number in each row
  virtual void advance(int64_t positions) = 0;  // counts those as read
  // Appends to the keys and values of a self-attention, and returns all.
  virtual const KeyValues& append(const Module& attention, const KeyValues& more) = 0;
  // Returns those of a cross-attention for the encoder's output: no tensors before the first call.
  virtual KeyValues& memory(const Module& attention) = 0;
};

// What a mixing reads besides x.
struct SequenceContext {
  KeepMask mask = {};  // its key_lengths are the numbers of real positions of the examples
  const Edges* edges = nullptr;  // between the positions, if they form a graph
  Tensor* global = nullptr;      // (B, G): of each graph as a whole; every layer replaces it
  Past* past = nullptr;  // the positions before x, to which those of x are appended; null: none
};

// The sublayer that mixes positions.
class Mixing : public Module {
 public:
  // x (B, T, D) → (B, T, D)
  virtual Tensor operator()(const Tensor& x, const SequenceContext& sequence) const = 0;
  // Returns whether it can continue from a past. Otherwise it reads all positions again.
  virtual bool can_cache() const { return false; }
};

struct LinearOptions;
struct ModelOptions;

// A form of mixing. Those but attention: nn/forms/mixings.h.
struct MixingRule {
  const char* name = "";        // the word in a config, and the name of the sublayer
  bool is_attention = false;    // the section [model.attention] applies
  bool attends_across = false;  // the same, without what needs positions, as in cross-attention
  bool can_be_causal = false;   // with attention.causal no position reads a later one
  bool needs_edges = false;     // the positions must be a graph
  // Makes the layer.
  std::unique_ptr<Mixing> (*make)(const ModelOptions& options,
                                  const LinearOptions& linear) = nullptr;
  // Throws InputError, naming the key, for options it cannot use; null: it can use all.
  void (*validate)(const ModelOptions& options) = nullptr;
};
namespace mixings {
extern const MixingRule attention;  // multi-head attention: nn/attention.h
}

enum class Padding;    // nn/forms/mixings.h
enum class Aggregate;  // nn/forms/mixings.h

// The section [model.block]: the sublayers of a layer.
struct MixingOptions {
  const MixingRule* kind = &mixings::attention;  // the sublayer
  int64_t kernel_size = 3;                       // of a convolution
  Padding padding = {};                          // of a convolution; at first zeros
  std::vector<int64_t> circular_axes = {};       // of a grid, with circular padding; empty: all
  bool scalar_kernel = false;                    // a number for each offset of a convolution
  int64_t length = 64;                           // of a dense layer over time: the longest sequence
  bool full_matrix = false;                      // a dense layer over positions and features
  Aggregate aggregate = {};                      // of a graph convolution; at first the sum
  int64_t induced_queries = 16, global = 0;      // of induced attention; G of graph attention
  bool feed_forward = true;                      // after it, a feed-forward network
  bool residual = true;  // sublayers add to the stream; otherwise they replace it

  void fields(Fields& f);  // visits each, for a config
};

}  // namespace heed::inline HEED_REAL
