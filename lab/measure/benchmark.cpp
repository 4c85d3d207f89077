#include "lab/measure/benchmark.h"

#include <algorithm>
#include <optional>

#include "apps/cost/summary.h"
#include "apps/inference/generation.h"
#include "apps/inference/predictions.h"
#include "apps/support/clock.h"
#include "apps/support/machine.h"
#include "apps/support/together.h"
#include "apps/training/trainer.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/kernels/bfloat16/bfloat16.h"
#include "core/suggest.h"
#include "core/system_memory.h"
#include "core/text.h"
#include "data/made_examples.h"
#include "data/tasks/task.h"
#include "lab/measure/median.h"
#include "lab/measure/rates.h"

namespace heed {

std::vector<std::string> benchmark_names() {
  std::vector<std::string> names;
  for (const BenchmarkSize& size : benchmark_sizes) names.emplace_back(size.name);
  return names;
}

const BenchmarkSize& benchmark_size(const std::string& name) {
  for (const BenchmarkSize& size : benchmark_sizes)
    if (size.name == name) return size;
  throw InputError("no size " + in_quotes(name, '\'') + did_you_mean(name, benchmark_names()) +
                   "; there are " + joined(benchmark_names()));
}

Experiment benchmark_experiment(const BenchmarkSize& size) {
  const bool has_source = size.source > 0;
  Experiment e;
  e.train.batch_size = size.batch;
  e.optim.weight_decay = 0.01;
  e.model.kind = has_source ? ModelKind::seq2seq : ModelKind::language_model;
  e.model.layers = size.layers;
  e.model.heads = size.heads;
  e.model.dim = size.dim;
  e.model.feed_forward = size.feed_forward;
  e.model.activation = has_source ? Activation::relu : Activation::gelu;
  e.model.positional = {.kind = &positional_encodings::learned,
                        .max_length = std::max(size.source, size.input)};
  if (size.llama) {
    e.model.activation = swiglu;
    e.model.norm.kind = NormKind::rms;
    e.model.bias = false;
    e.model.positional = {.kind = &positional_encodings::rotary};
  }
  e.model.share_embeddings = has_source;
  e.model.tie_weights = !has_source;
  return e;
}

constexpr int64_t marks = 2;  // <bos> and <eos> of an encoder-decoder

// Random contents, so that sources and inputs have the lengths of this size.
static Dataset random_examples(const BenchmarkSize& size, const Corpus& corpus) {
  Random random(1, Purpose::task);
  const bool has_source = size.source > 0;
  const int64_t ordinary = size.vocabulary - (has_source ? marks : 0);
  const auto draw = [&](int64_t length) {
    std::vector<int32_t> tokens(static_cast<size_t>(length));
    for (int32_t& token : tokens) token = any_below(random, ordinary);
    return tokens;
  };
  std::vector<SequencePair> contents(static_cast<size_t>(size.batch));
  for (size_t i = 0; i < contents.size(); ++i) {
    const int64_t input = size.names ? names_of_a_batch[i] : size.input;
    contents[i] = {draw(size.source), draw(has_source ? input - 1 : input + 1)};
  }
  return made_examples(corpus, std::move(contents));
}

Corpus benchmark_corpus(const BenchmarkSize& size) {
  Corpus corpus;
  const bool has_source = size.source > 0;
  corpus.framing = has_source ? ModelKind::seq2seq : ModelKind::language_model;
  corpus.source = corpus.target =
      task_codec(Level::word, numbered(size.vocabulary - (has_source ? marks : 0)), corpus.framing,
                 /*one_length=*/true);
  corpus.splits["train"] = random_examples(size, corpus);
  corpus.longest_source = size.source;
  corpus.longest_input = size.input;
  return corpus;
}

namespace {

// Measures how long this rank exchanges with others, and waits for them.
class TimedRanks final : public Ranks {
 public:
  explicit TimedRanks(Ranks& ranks) : ranks_(ranks) {}
  double seconds() const { return seconds_; }

  int index() const override { return ranks_.index(); }
  int count() const override { return ranks_.count(); }
  Message send(int partner, int tag, std::span<const std::byte> bytes) override {
    const Timer timer{seconds_};
    return ranks_.send(partner, tag, bytes);
  }
  Message receive(int partner, int tag, std::span<std::byte> bytes) override {
    const Timer timer{seconds_};
    return ranks_.receive(partner, tag, bytes);
  }
  bool done(Message message) override {
    const Timer timer{seconds_};
    return ranks_.done(message);
  }
  void wait(Message message) override {
    const Timer timer{seconds_};
    ranks_.wait(message);
  }
  void all_gather(std::span<std::byte> all) override {
    const Timer timer{seconds_};
    ranks_.all_gather(all);
  }
  void broadcast(std::span<std::byte> bytes) override {
    const Timer timer{seconds_};
    ranks_.broadcast(bytes);
  }
  void abort(int code) override { ranks_.abort(code); }

 private:
  struct Timer {
    double& sum;
    double start = now();
    ~Timer() { sum += now() - start; }
  };

  Ranks& ranks_;
  double seconds_ = 0;
};

}  // namespace

BenchmarkResult run_benchmark(const Experiment& experiment, const Corpus& corpus, double seconds) {
  const Summary summary = summarize(experiment, corpus);
  check_input(
      summary.memory.peak() <= summary.available,
      "the benchmark needs {:.0f} MiB of memory, this machine has {:.0f} MiB: choose smaller sizes",
      summary.memory.peak() / mib, summary.available / mib);
  BenchmarkResult result;
  result.flops = summary.flops.total();
  const double before = resident_memory();
  std::optional<TimedRanks> ranks;
  if (Ranks::current) ranks.emplace(*Ranks::current);
  const ValueGuard timed_ranks(Ranks::current, ranks ? static_cast<Ranks*>(&*ranks) : nullptr);
  {
    Trainer trainer(experiment, corpus);
    for (int i = 0; i < 3; ++i) trainer.step();
    std::vector<double> times;
    const double exchanged = ranks ? ranks->seconds() : 0;
    const double end = now() + seconds;
    while (times.size() < 3 || on_any_rank(now() < end)) {
      const double start = now();
      const StepReport report = trainer.step();
      times.push_back(now() - start);
      result.loss = report.loss;
      result.tokens = report.tokens;
    }
    result.parameters = trainer.model().parameter_count();
    result.steps = static_cast<int64_t>(times.size());
    result.seconds = median_of(std::move(times));
    if (ranks) result.exchange = (ranks->seconds() - exchanged) / static_cast<double>(result.steps);
  }
  result.peak_memory = peak_resident_memory();
  result.working_memory = result.peak_memory - before - 16 * static_cast<double>(result.parameters);
  result.gemm = gemm_rate(experiment.precision);
  return result;
}

static LanguageModel random_model(const Experiment& experiment, const Corpus& corpus) {
  check(experiment.model.kind == ModelKind::language_model,
        "generation: the model is no language model");
  ScopeGuard here;
  here->seed = 1;
  return LanguageModel(experiment.model, model_sizes(experiment, corpus));
}

Generator::Generator(const Experiment& experiment, const Corpus& corpus, const GenerationTask& task)
    : model_(random_model(experiment, corpus)), corpus_(corpus) {
  options_.count = options_.batch_size = task.batch;
  options_.cache = task.cache;
  options_.scored = false;
  options_.context = corpus.longest_input;
  generate(std::min<int64_t>(8, positions()));
}

double Generator::weight_bytes() const {
  double bytes = 0;
  for (const NamedParameter& p : model_.parameters()) {
    const bool halved =
        p.tensor.rank() == 2 && kernels::can_be_packed(p.tensor.dim(1), scope().precision);
    bytes += static_cast<double>(p.tensor.size()) * (halved ? 2 : sizeof(real));
  }
  return bytes;
}

int64_t Generator::generate(int64_t length) {
  const Sequence prompt = default_prompt(*corpus_.target);
  options_.max_length = length;
  int64_t tokens = 0;
  const Found found = continuations(model_, corpus_.target->vocabulary(), {&prompt, 1}, options_);
  for (const Hypothesis& each : found[0]) tokens += std::ssize(each.tokens);
  ++options_.seed;
  return tokens;
}

GenerationResult run_generation(const BenchmarkSize& size, const GenerationTask& task,
                                double seconds) {
  const Corpus corpus = benchmark_corpus(size);
  Generator generator(benchmark_experiment(size), corpus, task);
  GenerationResult result;
  result.parameters = generator.model().parameter_count();
  result.positions = size.input;
  result.weight_bytes = generator.weight_bytes();
  const double start = now();
  do {
    result.tokens += generator.generate(size.input);
    result.steps += size.input;
    result.seconds = now() - start;
  } while (result.seconds < seconds);
  return result;
}

}  // namespace heed
