#include "apps/inference/line_losses.h"

#include <algorithm>
#include <iterator>

#include "apps/inference/padded.h"
#include "apps/inference/predictions.h"
#include "core/ranks.h"
#include "core/scope.h"

namespace heed {

std::vector<std::vector<double>> token_losses(const LanguageModel& model,
                                              std::span<const Sequence> sequences, int64_t window) {
  ScopeGuard here;
  here->gradients = here->training = false;
  struct Part {
    size_t sequence;
    ptrdiff_t begin;  // of the inputs; the targets are one token later
  };
  struct TokenLoss {
    size_t sequence, target;
    double loss;
  };
  std::vector<std::vector<double>> losses(sequences.size());
  std::vector<TokenLoss> own;  // of this rank
  std::vector<Part> parts;
  std::vector<Sequence> inputs;
  for (size_t i = 0; i < sequences.size(); ++i) {
    const ptrdiff_t targets = std::ssize(sequences[i]) - 1;
    losses[i].resize(static_cast<size_t>(std::max<ptrdiff_t>(0, targets)));
    const ptrdiff_t step = window > 0 ? window : targets;
    for (ptrdiff_t begin = 0; begin < targets; begin += step) {
      parts.push_back({i, begin});
      const auto first = sequences[i].begin() + begin;
      inputs.emplace_back(first, first + std::min(step, targets - begin));
    }
  }
  for_each_batch(inputs, 32, [&](std::span<const size_t> chosen) {
    const Padded batch = padded(inputs, chosen);
    const Tensor logits = model.logits({{}, {}, batch.ids, batch.lengths});
    const auto width = static_cast<size_t>(logits.dim(2)),
               time = static_cast<size_t>(logits.dim(1));
    for (size_t row = 0; row < chosen.size(); ++row) {
      const auto& [sequence, begin] = parts[chosen[row]];
      for (size_t t = 0; t < inputs[chosen[row]].size(); ++t) {
        const size_t target = static_cast<size_t>(begin) + t;
        own.push_back({sequence, target,
                       -log_probability(logits.values().subspan((row * time + t) * width, width),
                                        sequences[sequence][target + 1])});
      }
    }
  });
  for (const TokenLoss& each : concatenated(std::move(own)))
    losses[each.sequence][each.target] = each.loss;
  return losses;
}

}  // namespace heed
