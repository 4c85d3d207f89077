#include "apps/cost/notice.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "apps/config/config.h"
#include "apps/support/clock.h"
#include "apps/support/log.h"
#include "apps/support/numbers.h"
#include "apps/training/trainer.h"
#include "core/scope.h"
#include "data/batch.h"
#include "nn/forms/normaliser.h"
#include "nn/forms/similarity.h"

namespace heed {
namespace {

// Returns the maximum of B lengths; 0 without them.
int64_t longest_of(const Ids& lengths) {
  int64_t longest = 0;
  for (int64_t i = 0; i < lengths.size(); ++i) longest = std::max<int64_t>(longest, lengths[i]);
  return longest;
}

// Keeps the last entries of a list.
template <class Value>
void cut(std::vector<Value>& list, int64_t most) {
  if (std::ssize(list) > most) list.erase(list.begin(), list.end() - most);
}

// Returns the training data with at most `most` tokens of each sequence. Refers to `corpus`.
Corpus shortened_corpus(const Corpus& corpus, int64_t most) {
  Corpus result;
  result.format = corpus.format;
  result.framing = corpus.framing;
  result.source = corpus.source;
  result.target = corpus.target;
  result.labels = corpus.labels;
  result.longest_source = std::min(corpus.longest_source, most);
  result.longest_input = std::min(corpus.longest_input, most);
  result.max_edges = corpus.max_edges;
  result.grid = corpus.grid;
  result.seed = corpus.seed;
  const Dataset& whole = corpus.splits.at("train");
  const ExampleFormat& format = corpus.format;
  // Vectors that have a target each, unless they form a grid or a graph.
  const bool at_vectors = corpus.framing == ModelKind::language_model || format.at_positions;
  if (format.at_positions && (format.has_edges || !corpus.grid.empty() || format.targets > 0))
    return corpus;
  result.splits["train"] = {
      whole.size,
      [&whole, most, width = at_vectors ? format.features : 0](int64_t i, Example& example) {
        whole.get(i, example);
        for (auto* ids : {&example.source, &example.input, &example.target, &example.position_ids})
          cut(*ids, most);
        cut(example.values, most);
        if (width > 0) cut(example.features, most * width);
      },
      whole.collate, whole.at_hand};
  return result;
}

double step_seconds(const Experiment& experiment, const Corpus& corpus) {
  const ScopeGuard here;
  Trainer trainer(experiment, corpus);
  const double start = now();
  trainer.step();
  return now() - start;
}

}  // namespace

BatchPositions batch_positions(const Experiment& e, const Corpus& corpus, int64_t parameters) {
  const Dataset& train = corpus.splits.at("train");
  const int64_t max_batches =
      train.at_hand > 0 ? std::clamp<int64_t>(train.at_hand / e.train.batch_size, 1, 100) : 100;
  Batches batches = Batches::shuffled(train, corpus.framing, e.train.batch_size,
                                      static_cast<uint64_t>(e.seed), e.data.bucketing);
  const auto width = static_cast<double>(e.model.layers * e.model.dim);
  std::vector<int64_t> positions;
  std::vector<double> flops;
  const auto flops_of = [&](int64_t time) {  // positions of one example
    return static_cast<double>(e.train.batch_size * time) *
           (6 * static_cast<double>(parameters) + 12 * width * static_cast<double>(time));
  };
  Batch batch;
  for (int64_t i = 0; i < std::min(batches.count(), max_batches); ++i) {
    batches.get(i, batch);
    const int64_t time = longest_of(batch.source_lengths) + longest_of(batch.input_lengths);
    positions.push_back(e.train.batch_size * time);
    flops.push_back(flops_of(time));
  }
  const auto mean_of = [&](int64_t count) {
    return std::accumulate(flops.begin(), flops.begin() + count, 0.0) / static_cast<double>(count);
  };
  BatchPositions found;
  found.longest = e.train.batch_size * (corpus.longest_source + corpus.longest_input);
  found.longest_flops = flops_of(corpus.longest_source + corpus.longest_input);
  found.mean_flops = mean_of(std::ssize(flops));
  found.first_flops = mean_of(std::min<int64_t>(std::ssize(flops), e.train.accumulate));
  const auto middle = positions.begin() + std::ssize(positions) / 2;
  std::nth_element(positions.begin(), middle, positions.end());
  found.median = *middle;
  return found;
}

std::vector<std::string> setting_notices(const Experiment& e, const Corpus& corpus) {
  std::vector<std::string> notices;
  const int64_t examples = corpus.splits.at("train").size, steps = e.train.steps;
  if (e.train.batch_size > examples)
    notices.push_back(fmt::format(
        "train.batch_size = {} is more than the {}, so a batch has some of them more than once; "
        "train.batch_size = 0 takes each once",
        e.train.batch_size, counted(examples, "training example")));
  if (e.schedule.warmup_steps > steps)
    notices.push_back(fmt::format(
        "schedule.warmup_steps = {} is more than train.steps = {}: the learning rate still rises "
        "at "
        "the end, where it is {:.3g}",
        e.schedule.warmup_steps, steps, Schedule(e.schedule, e.optim.lr, steps).rate(steps)));
  const MultiHeadAttentionOptions& a = e.model.attention;
  const bool ignores_shifts = a.normaliser->is_softmax || a.normaliser == &normalisers::hardmax;
  if (a.similarity->is_sum_of_terms && ignores_shifts &&
      find_entry(list_config(e), "model.attention.similarity")->is_used)
    notices.push_back(fmt::format(
        "model.attention.similarity = \"{}\" adds the same term of the query to the scores of all "
        "keys, which {} cancels: all queries get the same weights; \"luong_concat\" has a tanh "
        "that prevents it",
        a.similarity->name, a.normaliser->name));
  return notices;
}

std::string longer_schedule_notice(const Experiment& before, const Experiment& now, int64_t step) {
  const int64_t steps = before.train.steps;
  if (step == 0 || steps == now.train.steps || now.schedule.steps > 0 ||
      !find_entry(list_config(now), "schedule.steps")->is_used)
    return "";
  const Schedule was(before.schedule, before.optim.lr, steps),
      is(now.schedule, now.optim.lr, now.train.steps);
  return fmt::format(
      "train.steps = {0}, was {1}: the {2} schedule now ends at step {0}, so the learning rate "
      "goes from {3:.3g} at step {4} to {5:.3g} at step {6}; to keep it as it was, and min_lr = "
      "{7:.3g} after step {1}, resume with --set schedule.steps={1} too",
      now.train.steps, steps, now.schedule.kind->name, was.rate(step), step, is.rate(step + 1),
      step + 1, now.schedule.min_lr);
}

std::string size_notice(const Summary& s, const BatchPositions& positions) {
  const bool is_large = s.memory.peak() > s.available / 2;
  const bool is_long = positions.longest > 10 * positions.median;
  if (!is_large && !is_long && positions.longest_flops <= slow_flops) return "";
  const std::string than_median =
      is_long ? fmt::format(", {:.0f} times the median one",
                            static_cast<double>(positions.longest) /
                                static_cast<double>(std::max<int64_t>(1, positions.median)))
              : "";
  return fmt::format("longest batch: {}{}; memory: about {} at the peak, {} are left",
                     sizes_text(s.step), than_median, bytes_text(s.memory.peak()),
                     bytes_text(s.available));
}

FirstStep first_step(const Experiment& experiment, const Corpus& corpus, int64_t parameters,
                     const BatchPositions& positions) {
  constexpr int64_t min_tokens = 64;
  const auto step_flops = [&](const BatchPositions& of) {
    return of.first_flops * static_cast<double>(experiment.train.accumulate);
  };
  int64_t longest = std::max(corpus.longest_source, corpus.longest_input);
  if (step_flops(positions) <= slow_flops || longest <= min_tokens)
    return {step_seconds(experiment, corpus), 0};
  for (;;) {
    longest = std::max(longest / 2, min_tokens);
    const Corpus part = shortened_corpus(corpus, longest);
    const BatchPositions measured = batch_positions(experiment, part, parameters);
    if (step_flops(measured) <= slow_flops || longest == min_tokens)
      return {step_seconds(experiment, part) * positions.first_flops / measured.first_flops,
              longest};
  }
}

std::string time_notice(const FirstStep& first, const BatchPositions& positions, int64_t steps) {
  const double all =
      first.seconds * positions.mean_flops / positions.first_flops * static_cast<double>(steps);
  const std::string how =
      first.longest == 0
          ? fmt::format("one measured step of {} s", four_digits(first.seconds))
          : fmt::format("one measured step of {} tokens of each sequence", grouped(first.longest));
  return fmt::format("duration: about {} for {}, by {}", logging::clock_text(all),
                     counted(steps, "step"), how);
}

}  // namespace heed
