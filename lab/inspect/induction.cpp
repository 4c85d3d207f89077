#include "lab/inspect/induction.h"

#include <algorithm>
#include <limits>

#include "apps/inference/evaluation.h"
#include "core/inference_scope.h"
#include "core/ops.h"
#include "data/made_examples.h"

namespace heed {
static void include(int64_t length, Lengths& lengths) {
  lengths = {std::min(lengths.least, length), std::max(lengths.most, length)};
}

RepeatedTokens::RepeatedTokens(const Inspected& inspected) : inspected_(inspected) {
  if (inspected.options.kind != ModelKind::language_model || !inspected.corpus.target ||
      inspected.corpus.format.features > 0)
    return;
  const Vocabulary& vocabulary = inspected.corpus.target->vocabulary();
  begin_ = vocabulary.begin() != Vocabulary::none;
  separator_ = vocabulary.separator() != Vocabulary::none;
  end_ = vocabulary.end() != Vocabulary::none;
  for (int32_t id = 0; id < vocabulary.size(); ++id)
    if (!is_special(vocabulary.token(id))) ordinary_.push_back(id);
  choose_place();
}

// The lengths of the examples follow from data/framing.h: targets that are part of the prompt are
// ignored.
void RepeatedTokens::choose_place() {
  Lengths source{std::numeric_limits<int64_t>::max(), 0}, target = source;
  int64_t longest = 0;
  for (const Batch& batch : inspected_.batches)
    for (int64_t b = 0; b < batch.target.dim(0); ++b) {
      const int32_t* const targets = batch.target.data() + b * batch.target.dim(1);
      const int64_t inputs = batch.input_lengths[b];
      const int64_t skipped =
          std::find_if(targets, targets + inputs, [](int32_t id) { return id != ignored; }) -
          targets;
      longest = std::max(longest, inputs);
      const int32_t* const tokens = batch.input.data() + b * batch.input.dim(1);
      for (int64_t t = skipped; t + 1 < inputs; ++t)
        if (targets[t] != ignored && targets[t] != tokens[t + 1]) predicts_next_ = false;
      if (skipped == 0) continue;
      include(skipped + 1 - begin_ - separator_, source);
      include(inputs - skipped - end_, target);
    }
  if (source.most == 0) return choose_periods(2, (longest - begin_) / 2);
  place_ = Place::source_and_target;
  choose_periods(std::max(source.least, target.least), std::min(source.most, target.most));
  if (!periods_.empty()) return;
  place_ = Place::source;
  choose_periods(2, source.most / 2);
}

// No number above most / 2 divides another one up to most.
void RepeatedTokens::choose_periods(int64_t least, int64_t most) {
  most = std::min<int64_t>(most, std::ssize(ordinary_));
  least = std::max({least, most / 2 + 1, int64_t{2}});
  for (const int64_t period : {most, (most + least) / 2, least})
    if (least <= period && period <= (periods_.empty() ? most : periods_.back() - 1))
      periods_.push_back(period);
}

Batch RepeatedTokens::batch(int64_t period, int64_t rows, Random& random) const {
  std::vector<SequencePair> contents(static_cast<size_t>(rows));
  for (auto& [source, target] : contents) {
    std::vector<int32_t> tokens = ordinary_;
    for (size_t i = 0; i < static_cast<size_t>(period); ++i)
      std::swap(tokens[i], tokens[i + random.below(tokens.size() - i)]);
    const auto end = tokens.begin() + period;
    std::vector<int32_t>& once = place_ == Place::target ? target : source;
    std::vector<int32_t>& again = place_ == Place::source ? source : target;
    once.assign(tokens.begin(), end);
    again.insert(again.end(), tokens.begin(), end);
    // A model reads no target of its last position.
    if (place_ == Place::source || (place_ == Place::target && end_ == 0))
      target.push_back(tokens.front());
  }
  return made_batch(inspected_.corpus, std::move(contents));
}

Induction induction_of(const Inspected& inspected) {
  constexpr int64_t sequences = 32;
  const InferenceScope here;
  const RepeatedTokens repeated(inspected);
  Induction result;
  result.periods = repeated.periods();
  const int64_t at_once = std::min(sequences, inspected.batches.front().target.dim(0));
  for (size_t i = 0; i < result.periods.size(); ++i) {
    const int64_t n = result.periods[i], first = repeated.first(n), back = repeated.distance(n) - 1;
    Random random(0, Purpose::task, 0, static_cast<uint32_t>(i));
    double loss = 0;
    for (int64_t done = 0; done < sequences; done += at_once) {
      const Batch batch = repeated.batch(n, std::min(at_once, sequences - done), random);
      const int64_t rows = batch.input.dim(0), time = batch.input.dim(1);
      const int64_t last = std::min(first + n, time);
      const NamedTap tap(
          inspected, [](const std::string&, Site site) { return site == Site::weights; },
          [&](const std::string& name, Site, const Tensor& p) {  // (B, H, T, T)
            const int64_t heads = p.dim(1);
            auto& sums = result.matching[name];
            sums.resize(static_cast<size_t>(heads));
            for (int64_t row = 0; row < rows * heads; ++row) {
              std::vector<double>& sum = sums[static_cast<size_t>(row % heads)];
              sum.resize(result.periods.size());
              for (int64_t q = first; q < last; ++q)
                sum[i] += p.data()[(row * time + q) * time + q - back] /
                          static_cast<double>(sequences * (last - first));
            }
            return Tensor();
          });
      const Tensor logits = inspected.model.logits(batch);
      if (!repeated.has_targets()) continue;
      const Tensor losses = cross_entropy(logits, batch.target, Reduction::none);
      for (int64_t b = 0; b < rows; ++b)
        for (int64_t q = first; q < first + n - 1; ++q)
          loss += losses.data()[b * time + q] / static_cast<double>(sequences * (n - 1));
    }
    if (repeated.has_targets()) result.losses.push_back(loss);
  }
  return result;
}

}  // namespace heed
