#include "apps/cost/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <span>

#include "apps/cost/step_memory.h"
#include "apps/inference/evaluation.h"
#include "apps/inference/predictions.h"
#include "apps/inference/scores.h"
#include "apps/support/names.h"
#include "apps/support/numbers.h"
#include "apps/support/together.h"
#include "core/inference_scope.h"
#include "core/ops.h"
#include "core/pool.h"
#include "core/system_memory.h"
#include "nn/tap.h"

namespace heed {

double Memory::peak() const {
  const double training = batches + std::max(activations + backward, evaluation);
  return lasting() + std::max(construction, training);
}

namespace {

StepSizes step_sizes(const TrainOptions& train, const Corpus& corpus) {
  int64_t largest_split = 0;
  for (const auto& [name, split] : corpus.splits)
    if (name != "train") largest_split = std::max(largest_split, split.size);
  return {train.batch_size, train.accumulate, corpus.longest_source, corpus.longest_input,
          std::min(train.evaluation_batch(), largest_split)};
}

// The maximum sizes of examples, in positions and edges.
struct LongestExample {
  int64_t source = 0, input = 0, edges = 0;

  LongestExample() = default;
  // Of all data.
  explicit LongestExample(const Corpus& corpus)
      : source(corpus.longest_source), input(corpus.longest_input), edges(corpus.max_edges) {}
  // Of a dataset.
  LongestExample(const Dataset& dataset, ModelKind framing) {
    Batches one_by_one = Batches::in_order(dataset, framing, 1);
    Batch batch;
    for (int64_t i = 0; i < one_by_one.count(); ++i) {
      one_by_one.get(i, batch);
      if (batch.source_lengths) source = std::max<int64_t>(source, batch.source_lengths[0]);
      input = std::max<int64_t>(input, batch.input_lengths[0]);
      edges = std::max(edges, batch.edges.sender.size());
    }
  }
};

// Returns a batch of the largest shapes, with undefined values.
Batch largest_batch(const Corpus& corpus, const LongestExample& longest, int64_t examples) {
  const bool two_sided = corpus.framing == ModelKind::seq2seq;
  const int64_t time = longest.input;
  const ExampleFormat& format = corpus.format;
  const int64_t fixed = format.positions;  // of two sources of a seq2seq
  const int64_t positions = fixed > 0 ? fixed : two_sided ? longest.source : time;  // of features
  Batch batch;
  batch.input_lengths = Ids::empty({examples});
  if (two_sided || format.two_sources) batch.source_lengths = Ids::empty({examples});
  if (format.features > 0) batch.features = Tensor::empty({examples, positions, format.features});
  if (format.two_sources || (two_sided && format.features == 0))
    batch.source = Ids::empty({examples, longest.source - fixed});
  if (two_sided || corpus.format.features == 0) batch.input = Ids::empty({examples, time});
  batch.target =
      corpus.framing == ModelKind::classifier && !corpus.format.at_positions
          ? Ids::empty({examples})
          : Ids::empty({examples, corpus.format.targets > 0 ? corpus.format.targets : time});
  if (corpus.format.numbers) batch.numbers = Tensor::empty(batch.target.shape());
  if (corpus.format.has_edges) {
    const int64_t edges = examples * longest.edges;
    batch.edges.sender = Ids::empty({edges});
    batch.edges.receiver = Ids::empty({edges});
    if (corpus.format.edge_features > 0)
      batch.edges.features = Tensor::empty({edges, corpus.format.edge_features});
    if (format.global > 0) batch.global = Tensor::empty({examples, format.global});
  }
  return batch;
}

double live_bytes() { return static_cast<double>(pool_statistics().live_bytes); }
// Returns the peak of the pool since pool_reset_peak(), minus `before`.
double peak_above(double before) {
  return static_cast<double>(pool_statistics().peak_bytes) - before;
}

// Holds what measures (train.measures) see at once: the weights of an attention, and the stream
// after every sublayer.
class MeasureTap final : public Tap {
 public:
  bool wants(const Module&, Site site) override {
    return site == Site::weights || site == Site::stream;
  }
  Tensor see(const Module&, Site site, const Tensor& value) override {
    if (site == Site::stream) streams_.push_back(value);
    return {};
  }

 private:
  std::vector<Tensor> streams_;
};

double evaluation_memory(const Model& model, const Corpus& corpus, const LongestExample& longest,
                         int64_t examples, bool measures = false) {
  if (examples == 0) return 0;
  const InferenceScope here;
  const double before = live_bytes();
  pool_reset_peak();
  const Batch batch = largest_batch(corpus, longest, examples);
  std::optional<MeasureTap> tap;
  if (measures) tap.emplace();
  const Tensor logits = model.logits(batch);
  batch_loss(logits, batch, Reduction::sum);
  return peak_above(before);
}

using LayerFlops = std::map<std::string, Flops>;

// Returns the FLOPs of each layer for this number of equal micro-batches.
LayerFlops flops_of(const StepObserver& step, const PartNames& names, int64_t micro_batches) {
  LayerFlops all;
  for (const Event& event : step.events()) {
    if (event.cost.flops == 0) continue;
    Flops& flops = all[names.layer(event)];
    (event.pass == Pass::forward ? flops.forward : flops.backward) +=
        event.cost.flops * static_cast<double>(micro_batches);
  }
  return all;
}

// Returns the layers of the model with their parameters. A tied head has no parameters.
std::vector<SummaryPart> parts_of(const Model& model, LayerFlops flops) {
  std::vector<SummaryPart> parts;
  const auto part_named = [&](const std::string& name) -> SummaryPart& {
    if (parts.empty() || parts.back().name != name) {
      parts.push_back({.name = name, .flops = flops[name]});
      flops.erase(name);
    }
    return parts.back();
  };
  for (const NamedParameter& p : model.parameters()) {
    const std::string layer = layer_of(p.name);
    SummaryPart& part = part_named(layer);
    part.lines.push_back(
        {p.name.substr(layer.size() + 1), p.tensor.shape(), p.tensor.requires_grad()});
    part.parameters += p.tensor.size();
  }
  while (!flops.empty()) part_named(flops.begin()->first);
  return parts;
}

// decoder.layers.3.attention → decoder.layers., 3 and .attention
struct LayerName {
  std::string stack, number, rest;

  explicit LayerName(const std::string& name) : stack(name) {
    constexpr std::string_view layers = ".layers.";
    const size_t at = name.find(layers);
    if (at == name.npos) return;
    const size_t begin = at + layers.size(), end = std::min(name.find('.', begin), name.size());
    stack = name.substr(0, begin);
    number = name.substr(begin, end - begin);
    rest = name.substr(end);
  }
  bool in_same_layer(const LayerName& other) const {
    return stack == other.stack && number == other.number;
  }
};

// Returns whether parts [first, first + count) and [second, …) are layers that differ in their
// number only.
bool alike(const std::vector<SummaryPart>& parts, size_t first, size_t second, size_t count) {
  if (second + count > parts.size()) return false;
  return std::equal(parts.begin() + static_cast<ptrdiff_t>(first),
                    parts.begin() + static_cast<ptrdiff_t>(first + count),
                    parts.begin() + static_cast<ptrdiff_t>(second),
                    [](const SummaryPart& a, const SummaryPart& b) {
                      const LayerName x(a.name), y(b.name);
                      return !x.number.empty() && x.stack == y.stack && x.rest == y.rest &&
                             a.lines == b.lines && a.flops == b.flops;
                    });
}

// Merges consecutive layers that are alike into one entry.
std::vector<SummaryPart> merged(const std::vector<SummaryPart>& parts) {
  std::vector<SummaryPart> result;
  for (size_t first = 0, end = 0; first < parts.size(); first = end) {
    const LayerName name(parts[first].name);
    size_t count = 1;  // parts of this layer
    while (first + count < parts.size() && LayerName(parts[first + count].name).in_same_layer(name))
      ++count;
    for (end = first + count; alike(parts, first, end, count);) end += count;
    const LayerName last(parts[end - 1].name);
    for (size_t i = first; i < first + count; ++i) {
      SummaryPart& part = result.emplace_back(parts[i]);
      part.layers = static_cast<int64_t>((end - first) / count);
      if (part.layers > 1)
        part.name = fmt::format("{}{}-{}{}", name.stack, name.number, last.number,
                                LayerName(part.name).rest);
    }
  }
  return result;
}

// Fills in costs and parts, from one step of shapes only.
void measure_step(const Experiment& experiment, const Corpus& corpus, Summary& s) {
  const int64_t shards = OwnShards(experiment.train.shards).count;
  const int ranks = rank_count(), threads = Threads::of_parts(shards);
  ScopeGuard here;
  here->shapes_only = true;
  const Alone alone;  // nothing to exchange
  Experiment one = experiment;
  one.train.accumulate = one.train.shards = 1;
  one.train.detect_anomaly = false;
  pool_reset_peak();
  Trainer trainer(one, corpus);
  const double before = live_bytes();
  s.memory.construction = peak_above(before);
  std::vector<Batch> batches{
      largest_batch(corpus, LongestExample(corpus), s.step.batch / experiment.train.shards)};
  s.memory.batches =
      (live_bytes() - before) *
      static_cast<double>(shards * (s.step.micro_batches + experiment.data.bucketing));
  StepObserver step;
  const PartNames names(trainer.model());
  const int64_t live = pool_statistics().live_bytes;
  {
    const ObserverScope observed(step);
    step.begin();
    trainer.step(std::move(batches));
    step.end();
  }
  const StepMemory memory = memory_of(step, names, live, trainer);
  s.memory.parameters = memory.parameters;
  // Of each thread, and of the subtrees that wait in it: see apps/training/shards.h.
  s.memory.gradients =
      memory.gradients * threads * std::bit_width(static_cast<uint64_t>(shards / threads));
  s.memory.optimizer = memory.optimizer / ranks;
  if (ranks > 1) s.memory.construction = std::max(s.memory.construction, memory.optimizer);
  s.memory.activations = threads * memory.held(Pass::forward);
  s.memory.backward = threads * (memory.held(Pass::backward) + memory.held(Pass::other));
  s.memory.evaluation =
      evaluation_memory(trainer.model(), corpus, LongestExample(corpus), s.step.evaluation_batch,
                        !experiment.train.measures.empty());
  s.parts = merged(parts_of(trainer.model(),
                            flops_of(step, names, experiment.train.shards * s.step.micro_batches)));
}

}  // namespace

Summary summarize(const Experiment& experiment, const Corpus& corpus) {
  constexpr int64_t max_layers = 100'000;
  const ModelOptions& model = experiment.model;
  check_input(std::max(model.layers, model.decoder_layers) <= max_layers,
              "the model is too large: {} layers; lower `model.layers`",
              std::max(model.layers, model.decoder_layers));
  Summary s;
  s.step = step_sizes(experiment.train, corpus);
  try {
    measure_step(experiment, corpus, s);
  } catch (const InputError&) {
    throw;
  } catch (const Error& error) {
    check_input(false,
                "the model cannot be computed: {}; if it is too large, lower `model.dim`, "
                "`model.feed_forward`, `train.batch_size` or the lengths in [data]",
                error.what());
  }
  for (const SummaryPart& part : s.parts) {
    const auto layers = static_cast<double>(part.layers);
    s.flops.forward += layers * part.flops.forward;
    s.flops.backward += layers * part.flops.backward;
    s.parameters += part.layers * part.parameters;
    for (const ParameterLine& line : part.lines)
      if (line.trains) s.trained += part.layers * line.shape.size();
  }
  s.available = available_memory();
  return s;
}

namespace {

// A kind of memory, and the keys that lower it.
struct Need {
  double bytes;
  const char* what;
  const char* remedy;
};

Need largest_need(const Summary& s) {
  double in_layers = 0;
  for (const SummaryPart& part : s.parts)
    if (part.name.find(".layers.") != part.name.npos)
      in_layers += static_cast<double>(part.layers) * static_cast<double>(part.parameters);
  const bool deep = in_layers * 2 > static_cast<double>(s.parameters);
  const Need needs[] = {
      {s.memory.lasting(), "parameters, gradients and optimizer state",
       deep ? "`model.dim`, `model.feed_forward` or `model.layers`"
            : "`model.dim`, `data.max_vocabulary` or `model.positional.max_length`"},
      {s.memory.activations + s.memory.backward, "the activations of a micro-batch",
       "`train.batch_size` (and raise `train.accumulate`), the lengths in [data], `model.dim` or "
       "`model.layers`"},
      {s.memory.evaluation, "the activations of an evaluation",
       "`train.evaluate_batch_size` (0: `train.batch_size`)"},
      {s.memory.batches, "the token ids of a step",
       "`train.accumulate`, `train.batch_size` or `data.bucketing`"},
  };
  return *std::ranges::max_element(needs, {}, &Need::bytes);
}

}  // namespace

void check_memory(const Summary& s) {
  if (s.memory.peak() <= s.available) return;
  const Need need = largest_need(s);
  throw InputError(
      fmt::format("training needs about {} of memory, this machine has {}: {} take {}; lower {}",
                  bytes_text(s.memory.peak()), bytes_text(s.available), need.what,
                  bytes_text(need.bytes), need.remedy));
}

void check_evaluation_memory(const Experiment& experiment, const Corpus& corpus,
                             const std::string& split, double available) {
  const Dataset& dataset = split_of(corpus, split);
  const int64_t examples = std::min(experiment.train.evaluation_batch(), dataset.size);
  const LongestExample longest(dataset, corpus.framing);
  ScopeGuard here;
  here->shapes_only = true;
  const Alone alone;
  const std::unique_ptr<Model> model = make_model(experiment, corpus);
  const auto needs = [&](int64_t batch) {
    return evaluation_memory(*model, corpus, longest, batch);
  };
  const double needed = needs(examples);
  if (needed <= available) return;
  int64_t fitting = examples;
  while (fitting > 1 && needs(fitting) > available) fitting /= 2;
  const std::string remedy = needs(fitting) > available
                                 ? "one example alone does not fit: leave out the longest"
                                 : fmt::format("use --set train.evaluate_batch_size={}", fitting);
  throw InputError(
      fmt::format("evaluating batches of {} needs about {} of memory, this machine has {} left; {}",
                  sizes_text({examples, 1, longest.source, longest.input}), bytes_text(needed),
                  bytes_text(available), remedy));
}

void check_lines_memory(const Experiment& experiment, const Corpus& corpus,
                        std::span<const Sequence> lines, double available, int64_t stride) {
  constexpr int64_t max_lines = 32, few_tokens = 1 << 15;  // few: they always fit
  const int64_t context = context_length(experiment);
  int64_t longest = 0, count = 0;
  for (const Sequence& line : lines) {
    longest = std::max(longest, std::ssize(line));
    count += stride > 0 ? std::ssize(windows_of(std::ssize(line) - 1, {context, stride})) : 1;
  }
  count = std::min(count, max_lines);
  const int64_t time = context > 0 ? std::min(longest, context) : longest;
  if (count * time < few_tokens) return;
  ScopeGuard here;
  here->shapes_only = true;
  here->gradients = here->training = false;
  const Alone alone;
  const std::unique_ptr<Model> model = make_model(experiment, corpus);
  const double before = live_bytes();
  pool_reset_peak();
  const Ids ids = Ids::empty({count, time}), lengths = Ids::empty({count});
  const int64_t width = corpus.format.features;
  if (corpus.format.two_sources) return;  // short texts
  if (width > 0)
    model->logits({.input_lengths = lengths, .features = Tensor::empty({count, time, width})});
  else if (model->kind() == ModelKind::seq2seq)
    model->encode({.source = ids, .source_lengths = lengths});
  else
    model->logits({.input = ids, .input_lengths = lengths});
  const double needed = peak_above(before);
  check_input(needed <= available,
              "--input: {} lines of up to {} tokens need about {} of memory at once, this machine "
              "has {} left; split the longest lines",
              count, grouped(time), bytes_text(needed), bytes_text(available));
}

}  // namespace heed
