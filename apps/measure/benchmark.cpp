#include "apps/measure/benchmark.h"

#include <algorithm>
#include <memory>

#include "apps/measure/rates.h"
#include "apps/measure/summary.h"
#include "apps/support/clock.h"
#include "apps/support/machine.h"
#include "apps/support/suggest.h"
#include "apps/training/trainer.h"
#include "core/check.h"
#include "core/joined.h"

namespace heed {

const std::vector<BenchmarkSize>& benchmark_sizes() {
  static const std::vector<BenchmarkSize> sizes{
      {.name = "tiny",
       .layers = 2,
       .heads = 4,
       .dim = 64,
       .feed_forward = 256,
       .vocabulary = 64,
       .source = 0,
       .input = 32,
       .batch = 16},
      // What nanoGPT's README suggests for a laptop, on the characters of Shakespeare.
      {.name = "babycpu",
       .layers = 4,
       .heads = 4,
       .dim = 128,
       .feed_forward = 512,
       .vocabulary = 65,
       .source = 0,
       .input = 64,
       .batch = 12},
      // nanoGPT's model of the characters of Shakespeare.
      {.name = "baby",
       .layers = 6,
       .heads = 6,
       .dim = 384,
       .feed_forward = 1536,
       .vocabulary = 65,
       .source = 0,
       .input = 256,
       .batch = 16},
      // GPT-2's smallest model (Radford et al. 2019) as llm.c trains it by default, with as many
      // positions as a sequence needs: 64 of its 1,024.
      {.name = "gpt2",
       .layers = 12,
       .heads = 12,
       .dim = 768,
       .feed_forward = 3072,
       .vocabulary = 50257,
       .source = 0,
       .input = 64,
       .batch = 4},
      // JoeyNMT's transformer_reverse.
      {.name = "reverse",
       .layers = 2,
       .heads = 4,
       .dim = 64,
       .feed_forward = 256,
       .vocabulary = 54,
       .source = 26,
       .input = 26,
       .batch = 32},
      // Vaswani et al. 2017, table 3, line "base"; a smaller vocabulary.
      {.name = "base",
       .layers = 6,
       .heads = 8,
       .dim = 512,
       .feed_forward = 2048,
       .vocabulary = 8000,
       .source = 32,
       .input = 32,
       .batch = 16},
  };
  return sizes;
}

const BenchmarkSize& benchmark_size(const std::string& name) {
  std::vector<std::string> names;
  for (const BenchmarkSize& size : benchmark_sizes()) {
    if (size.name == name) return size;
    names.emplace_back(size.name);
  }
  const std::string meant = nearest(name, names);
  throw InputError("no size '" + name + "'" +
                   (meant.empty() ? "" : "; did you mean " + meant + "?") + "; there are " +
                   joined(names));
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
  e.model.share_embeddings = has_source;
  e.model.tie_weights = !has_source;
  return e;
}

namespace {

class RandomTokens final : public Dataset {
 public:
  explicit RandomTokens(const BenchmarkSize& size) {
    Random random(1, Purpose::task);
    const auto draw = [&](int64_t length) {
      std::vector<int32_t> tokens(static_cast<size_t>(length));
      for (int32_t& token : tokens)
        token = static_cast<int32_t>(random.below(static_cast<uint64_t>(size.vocabulary)));
      return tokens;
    };
    for (int64_t i = 0; i < size.batch; ++i) {
      Example& example = examples_.emplace_back();
      example.source = draw(size.source);
      example.input = draw(size.input);
      example.target = draw(size.input);
    }
  }
  int64_t size() const override { return static_cast<int64_t>(examples_.size()); }
  void get(int64_t i, Example& example) const override {
    example = examples_[static_cast<size_t>(i)];
  }

 private:
  std::vector<Example> examples_;
};

}  // namespace

Corpus benchmark_corpus(const BenchmarkSize& size) {
  std::vector<std::string> symbols;
  for (int64_t i = 0; i < size.vocabulary; ++i) symbols.push_back(std::to_string(i));
  Corpus corpus;
  corpus.framing = size.source > 0 ? Framing::seq2seq : Framing::language_model;
  corpus.source = corpus.target = std::make_shared<TextCodec>(Level::word, std::move(symbols));
  corpus.splits["train"] = std::make_unique<RandomTokens>(size);
  corpus.longest_source = size.source;
  corpus.longest_input = size.input;
  return corpus;
}

namespace {

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  if (numbers.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(numbers.begin(), middle)) / 2;
}

}  // namespace

BenchmarkResult run_benchmark(const Experiment& experiment, const Corpus& corpus, double seconds) {
  const Summary summary = summarize(experiment, corpus);
  check_input(
      summary.memory.peak() <= summary.available,
      "the benchmark needs {:.0f} MiB of memory and there are {:.0f}: choose smaller models",
      summary.memory.peak() / mib, summary.available / mib);
  BenchmarkResult result;
  result.flops = summary.flops.total();
  const double held = resident_memory();
  {
    Trainer trainer(experiment, corpus);
    for (int i = 0; i < 3; ++i) trainer.step();
    std::vector<double> times;
    const double end = now() + seconds;
    while (times.size() < 3 || now() < end) {
      const double start = now();
      const StepReport report = trainer.step();
      times.push_back(now() - start);
      result.loss = report.loss;
      result.tokens = report.tokens;
    }
    result.parameters = trainer.model().parameter_count();
    result.steps = static_cast<int64_t>(times.size());
    result.seconds = median(std::move(times));
  }
  result.peak_memory = peak_resident_memory();
  result.working_memory = result.peak_memory - held - 16 * static_cast<double>(result.parameters);
  result.gemm = gemm_rate(experiment.precision);
  return result;
}

}  // namespace heed
