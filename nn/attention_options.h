// The forms of multi-head attention: the section [model.attention].
#pragma once

#include <vector>

#include "core/activation.h"
#include "core/fields.h"
#include "core/mask.h"
#include "nn/normaliser.h"
#include "nn/similarity.h"

namespace heed::inline HEED_REAL {

// The width of a head if no key sets it.
enum class HeadWidth {
  narrow,  // D / H: all heads together are as wide as the model (Vaswani et al. 2017)
  wide,    // D: each head is, and there are H times as many weights
};

// How the outputs of the heads, zₕ of width Vₕ, are combined.
enum class Combine {
  concat_projection,  // Wᵒ [z₁; …; z_H]
  concat,             // [z₁; …; z_H]
  weighted,           // Σₕ wₕ zₕ, a learned scalar for each head
  tensor,             // Σₕ zₕ Wₕ, a learned tensor (H, V, V)
  mean,
  max
};

// The widths of the heads of an attention.
struct HeadWidths {
  std::vector<int64_t> key, value;  // K and V of every head

  bool equal() const;      // all K are equal, and all V
  int64_t keys() const;    // Σ K
  int64_t values() const;  // Σ V
};

// The form of an attention: the keys of [model.attention]. fields() describes each.
struct MultiHeadOptions {
  SimilarityOptions similarity = {};  // the score of a query and a key
  const NormaliserRule* normaliser = &normalisers::softmax;
  bool straight_through = false;
  Temperature temperature = {};  // divisor of the scores
  HeadWidth head_width = HeadWidth::narrow;
  int64_t key_dim = 0, value_dim = 0;                   // of every head; 0: by head_width
  std::vector<int64_t> key_dims = {}, value_dims = {};  // of each head, instead of these
  Combine combine = Combine::concat_projection;
  bool project_query = true, project_key = true, project_value = true;
  bool tie_key_value = false;
  int64_t window = 0;
  bool causal = false;
  std::vector<int64_t> axes = {};
  Activation activation = Activation::none;
  int64_t graph_distances = 0;

  void fields(Fields& f);  // visits each, for a config
  // Throws InputError for values out of range and, naming the key, for options that contradict each
  // other or the widths: H heads in a model of width `dim`, with keys computed from vectors of
  // width `key_source` and values from `value_source`.
  void validate(int64_t dim, int64_t heads, int64_t key_source, int64_t value_source) const;
  // Returns whether the weights are a softmax of the scores.
  bool is_softmax() const;
  // Returns whether the fused kernel computes this form if no bias is added to the scores.
  bool is_fused() const;
  // Throws InputError if the widths are not determined.
  HeadWidths widths(int64_t dim, int64_t heads) const;
  // `mask`, restricted by causal and window.
  KeepMask restricted(KeepMask mask) const;
  // The same form without causal, window, axes and graph_distances, which relate positions of one
  // sequence to each other: for queries from elsewhere.
  MultiHeadOptions without_positions() const;
};

}  // namespace heed::inline HEED_REAL
