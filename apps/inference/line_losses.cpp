#include "apps/inference/line_losses.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "apps/inference/input_lines.h"
#include "apps/inference/padded.h"
#include "apps/inference/predictions.h"
#include "apps/support/numbers.h"
#include "apps/support/output.h"
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

int64_t print_losses(const LanguageModel& model, const TextCodec& codec, int64_t window,
                     const LineOutput& output) {
  const auto encode = [&](const std::string& line) {
    Sequence ids = default_prompt(codec);
    const Sequence own = codec.encode(line, output.skipped);
    ids.insert(ids.end(), own.begin(), own.end());
    if (codec.vocabulary().end() != Vocabulary::none) ids.push_back(codec.vocabulary().end());
    return ids;
  };
  const auto answer = [&](std::span<const InputLine> lines) {
    std::vector<Sequence> sequences;
    for (const InputLine& line : lines) sequences.push_back(line.ids);
    const std::vector<std::vector<double>> losses = token_losses(model, sequences, window);
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::vector<double>& own = losses[i];
      const double loss = std::accumulate(own.begin(), own.end(), 0.0) /
                          static_cast<double>(std::max<size_t>(1, own.size()));
      if (!output.json) {
        print_line(own.empty() ? "" : fmt::format("{}\t{}", four_digits(loss), lines[i].text));
        continue;
      }
      Json row = Json::object().set("line", lines[i].number).set("input", lines[i].text);
      if (!lines[i].error.empty()) row.set("error", lines[i].error);
      Json tokens = Json::array(), each = Json::array();
      for (size_t t = 0; t < own.size(); ++t) {
        tokens.push(codec.vocabulary().token(lines[i].ids[t + 1]));
        each.push(float32_digits(own[t]));
      }
      if (!own.empty())
        row.set("loss", float32_digits(loss))
            .set("tokens", std::move(tokens))
            .set("losses", std::move(each));
      print_line(row.text());
    }
    flush_output();
  };
  return answer_lines(output.path, 0, encode, answer);
}

}  // namespace heed
