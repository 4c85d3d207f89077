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

#include <optional>
#include <string>
#include <vector>

#include "apps/support/json.h"
#include "apps/support/table.h"
#include "lab/inspect/inspected.h"

namespace heed {

// Scores that a model cannot have are none: those of positions in cross-attention, on lines of a
// grid and in sets and graphs, those of tokens for features. In a chain (model.block.residual =
// false) a head composes with those of the next sublayer only, and only a single head layer copies.
struct HeadScores {
  struct Head {
    std::optional<int64_t> layer;
    int64_t index = 0;
    std::string module;  // "decoder.layers.0.attention"
    std::optional<double> previous, duplicate, induction, prefix_matching;
    std::optional<std::vector<double>> by_period;  // of prefix_matching, the least of them
    std::optional<double> copying, entropy, distance, first;

    std::string name() const;  // "decoder.layers.0.attention.head.1"
    // Calls f(name, value) for each score.
    template <class F>
    void visit(F&& f) const {
      f("previous", previous);
      f("duplicate", duplicate);
      f("induction", induction);
      f("prefix_matching", prefix_matching);
      f("copying", copying);
      f("entropy", entropy);
      f("distance", distance);
      f("first", first);
    }
  };
  // The composition of two heads, each named by its layer and its index.
  struct Pair {
    std::string stack;
    int64_t from_layer = 0, from_head = 0, to_layer = 0, to_head = 0;
    double q = 0, k = 0, v = 0;
  };
  std::vector<Head> heads;
  std::optional<std::vector<Pair>> composition = {};  // of each two heads; depends on weights only
  // None for other models than language models.
  std::optional<std::vector<int64_t>> periods = {};
  // The mean loss on the repeated tokens but the first: the greatest of all periods, and each. None
  // where the model predicts no repeated tokens.
  std::optional<double> induction_loss = {};
  std::optional<std::vector<double>> induction_loss_by_period = {};
  // The loss at 0.9 T minus that at 0.1 T, of examples of T tokens.
  std::optional<double> in_context_score = {};

  // Returns {"heads": [{"layer", "head", "module", "previous", …}, …], "composition": [{"stack",
  // "from": [layer, head], "to", "q", "k", "v"}, …], "periods", …}, with null for what there is
  // not.
  Json json() const;
  // Heads with the most concentrated roles come first.
  Table table() const;
};
HeadScores head_scores(const Inspected& inspected, bool composition = true);

}  // namespace heed
