// What the heads of a model do: scores of their attention weights A and of their matrices.
//
//   previous, duplicate, induction   Σ (A ∘ D) / Σ A over queries q and keys k, with D = 1 where
//     previous    k = q - 1
//     duplicate   x_k = x_q, k < q
//     induction   x_{k-1} = x_q, 1 ≤ k ≤ q           (as TransformerLens's head detector)
//   prefix_matching   the mean of A[q, k + 1], where x_k is the first occurrence of x_q, over the
//                     repeated tokens x_q of lab/inspect/induction.h: the least of up to three
//                     periods (Olsson et al. 2022, "In-context Learning and Induction Heads")
//   copying           Σ λ / Σ |λ| of U W_O W_V E (Elhage et al. 2021)
//   composition       ‖W_B W_A‖ / (‖W_A‖ ‖W_B‖) minus its mean for random matrices of that shape,
//   with
//                     W_A = W_O W_V of the earlier head, and W_B = (W_Qᵀ W_K)ᵀ for Q-, W_Qᵀ W_K for
//                     K-, W_O W_V for V-composition (Elhage et al. 2021)
//   entropy, distance, first   means over queries of -Σ A ln A, Σ A |q - k| and A[q, 0]
#pragma once

#include "apps/support/json.h"
#include "apps/support/table.h"
#include "lab/inspect/inspected.h"

namespace heed {

// Returns {"heads": [{"layer", "head", "module", "previous", "duplicate", "induction",
// "prefix_matching", "prefix_matching_by_period", "copying", "entropy", "distance", "first"}, …],
// "composition": [{"stack", "from": [layer, head], "to", "q", "k", "v"}, …], "periods",
// "induction_loss", "induction_loss_by_period", "in_context_score"}. The induction loss is the mean
// loss on the repeated tokens but the first, the greatest of all periods; the in-context score is
// the loss at 0.9 T minus that at 0.1 T of examples of T tokens. Values that a model cannot have
// are null: scores of positions in cross-attention, on lines of a grid and in sets and graphs,
// those of tokens for features, the last three for models other than language models, and the
// induction loss where the model predicts no repeated tokens. "periods" are those of language
// models only, and "composition", which depends on the weights only and has a pair for each two
// heads, is there if `composition` is.
Json head_scores(const Inspected& inspected, bool composition = true);
// Heads with the most concentrated roles come first.
Table heads_table(const Json& scores);

}  // namespace heed
