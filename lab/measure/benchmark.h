// Measurements of `heed bench`: training steps and generation with models of fixed sizes, to
// compare versions of heed, and heed with PyTorch (bench/compare, bench/generate).
//
// A training step runs on the same batch every time: windows of a text of random tokens, or random
// pairs. Generation starts from one token and ends at the model's last position. The weights are
// not trained, which does not affect the time.
#pragma once

#include <string>
#include <vector>

#include "apps/config/experiment.h"
#include "apps/inference/generation.h"
#include "nn/models.h"

namespace heed {

// An encoder-decoder if it has a source, else a language model.
struct BenchmarkSize {
  const char* name;
  int64_t layers, heads, dim, feed_forward, vocabulary;
  int64_t source, input;  // Ts, or 0; T
  int64_t batch;
  // RMSNorm, SwiGLU, rotary positions and no biases (Touvron et al. 2023), instead of LayerNorm,
  // GELU or ReLU, and learned positions.
  bool llama = false;
  bool names = false;  // texts have lengths of names_of_a_batch instead of T
};

// The tokens of 16 names with an end each.
inline constexpr int64_t names_of_a_batch[] = {5, 5, 6, 6, 6, 7, 7, 7, 7, 7, 8, 8, 8, 9, 9, 10};

// clang-format off
inline constexpr BenchmarkSize benchmark_sizes[] = {
    // name, layers, heads, D, F, V, Ts, T, B
    // The size of Karpathy's microgpt (2026), on one name of up to 16 letters.
    {"micro", 1, 4, 16, 64, 27, 0, 16, 1},
    // The same on 16 names, 115 tokens in all, and two and four times as wide.
    {"names16", 1, 4, 16, 64, 27, 0, 16, 16, false, true},
    {"names32", 1, 4, 32, 128, 27, 0, 16, 16, false, true},
    {"names64", 1, 4, 64, 256, 27, 0, 16, 16, false, true},
    {"tiny", 2, 4, 64, 256, 64, 0, 32, 16},
    // What nanoGPT's README suggests for a laptop, on the characters of Shakespeare.
    {"babycpu", 4, 4, 128, 512, 65, 0, 64, 12},
    // nanoGPT's model of the characters of Shakespeare.
    {"baby", 6, 6, 384, 1536, 65, 0, 256, 16},
    // GPT-2's smallest model (Radford et al. 2019), trained as llm.c does by default, with as many
    // positions as the sequences need: 64 of its 1,024.
    {"gpt2", 12, 12, 768, 3072, 50257, 0, 64, 4},
    // Two of the models of tiny stories of Karpathy's llama2.c (2023), up to the 256
    // tokens that it generates by default.
    {"stories15M", 6, 6, 288, 768, 32000, 0, 256, 4, true},
    {"110M", 12, 12, 768, 2048, 32000, 0, 256, 2, true},
    // JoeyNMT's transformer_reverse.
    {"reverse", 2, 4, 64, 256, 54, 26, 26, 32},
    // Vaswani et al. 2017, table 3, line "base", with a smaller vocabulary.
    {"base", 6, 8, 512, 2048, 8000, 32, 32, 16},
};
// clang-format on
std::vector<std::string> benchmark_names();
// Throws InputError that lists the names if there is no such size.
const BenchmarkSize& benchmark_size(const std::string& name);

// Returns an experiment with AdamW, gradients clipped to norm 1, and no dropout.
Experiment benchmark_experiment(const BenchmarkSize& size);
// Returns data whose training split is one batch, so the loss decreases from step to step.
Corpus benchmark_corpus(const BenchmarkSize& size);

struct BenchmarkResult {
  int64_t parameters = 0;
  int64_t steps = 0;    // timed steps
  double seconds = 0;   // median time of a step
  double exchange = 0;  // mean time in a step of exchange with other ranks, and of waiting for them
  int64_t tokens = 0;   // inputs of a step; those of the decoder, if there is one
  double loss = 0;      // of the last step
  double flops = 0;     // of a step, as in apps/cost/summary.h
  double gemm = 0;      // rate of the fastest GEMM in the same precision, in FLOP/s
  // Bytes: peak_memory is the peak of the process. working_memory is the peak without the memory
  // before the model was created and without 16 bytes per parameter (weight, gradient and Adam's
  // two moments): activations, temporaries and fragmentation.
  double peak_memory = 0, working_memory = 0;

  double flops_per_second() const { return flops / seconds; }
};

// Trains for `seconds`, at least three steps, after three warm-up steps. To measure the
// memory of one model, call this once per process. Throws InputError if the machine lacks the
// memory.
BenchmarkResult run_benchmark(const Experiment& experiment, const Corpus& corpus, double seconds);

struct GenerationTask {
  int64_t batch = 1;  // texts to generate at once
  bool cache = true;  // of keys and values (nn/decoding.h)
};

struct GenerationResult {
  int64_t parameters = 0;
  int64_t tokens = 0;  // generated in `seconds`
  double seconds = 0;
  int64_t positions = 0;  // tokens of a text
  int64_t steps = 0;      // each computes the next token of all texts of a batch
  // Of all weights, as a step reads them: in `medium` those of matrices are kept in 2 bytes
  // (core/kernels/kept/kept.h).
  double weight_bytes = 0;

  double tokens_per_second() const { return static_cast<double>(tokens) / seconds; }
  double bytes_per_second() const { return weight_bytes * static_cast<double>(steps) / seconds; }
};

// A language model of a size with random weights, and what it generates.
class Generator {
 public:
  // Throws Error if the size is not a language model. Generates a few tokens, to warm up.
  Generator(const Experiment& experiment, const Corpus& corpus, const GenerationTask& task);

  const LanguageModel& model() const { return model_; }
  int64_t positions() const { return options_.context; }
  double weight_bytes() const;
  // Generates a batch of texts of so many tokens. Returns their tokens.
  int64_t generate(int64_t length);

 private:
  LanguageModel model_;
  const Corpus& corpus_;
  GenerationOptions options_;
};

// Generates texts for `seconds`, at least one batch, after a warm-up of a few tokens. Throws Error
// if the size is not a language model.
GenerationResult run_generation(const BenchmarkSize& size, const GenerationTask& task,
                                double seconds);

}  // namespace heed
