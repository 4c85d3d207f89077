// What a config may say of attention: the section [model.attention].
#pragma once

#include <vector>

#include "core/activation.h"
#include "core/fields.h"
#include "nn/normaliser.h"
#include "nn/similarity.h"

namespace heed::inline HEED_REAL {

// How wide one head is where no width is named.
enum class HeadWidth {
  narrow,  // D / H: all heads together are as wide as the model (Vaswani et al. 2017)
  wide,    // D: each head is, and there are H times as many weights
};

// How the results of the heads, zₕ of width Vₕ, become one.
enum class Combine {
  concat_projection,  // Wᵒ [z₁; …; z_H]
  concat,             // [z₁; …; z_H]
  weighted,           // Σₕ wₕ zₕ, a learned number a head
  tensor,             // Σₕ zₕ Wₕ, a learned tensor (H, V, V)
  mean,
  max
};

struct HeadWidths {
  std::vector<int64_t> key, value;  // K and V of every head

  bool alike() const;
  int64_t keys() const;    // Σ K
  int64_t values() const;  // Σ V
};

struct MultiHeadOptions {
  SimilarityOptions similarity;
  NormaliserKind normaliser = NormaliserKind::softmax;
  bool straight_through = false;
  Temperature temperature;
  HeadWidth head_width = HeadWidth::narrow;
  int64_t key_dim = 0, value_dim = 0;         // of every head; 0: by head_width
  std::vector<int64_t> key_dims, value_dims;  // of each head, in the place of these
  Combine combine = Combine::concat_projection;
  bool project_query = true, project_key = true, project_value = true;
  bool tie_key_value = false;
  int64_t window = 0;
  bool causal = false;
  std::vector<int64_t> axes;
  Activation activation = Activation::none;
  int64_t graph_distances = 0;

  void fields(Fields& f);
  // Throws InputError, naming the key, for what contradicts itself; for attention of `heads` heads
  // in a model of width `dim`, whose keys are made from `key_source` and whose values from
  // `value_source`, as wide.
  void validate(int64_t dim, int64_t heads, int64_t key_source, int64_t value_source) const;
  // Whether the fused kernel computes this form, where no bias is added to the scores.
  bool is_fused() const;
  // Throws InputError where the widths are not decided.
  HeadWidths widths(int64_t dim, int64_t heads) const;
};

}  // namespace heed::inline HEED_REAL
