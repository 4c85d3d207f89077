// heed bench: models and output. No test depends on the speed of the machine.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "apps/cost/summary.h"
#include "apps/support/json.h"
#include "apps/training/trainer.h"
#include "lab/measure/benchmark.h"
#include "program.h"
#include "thread_ranks.h"

using namespace heed;

namespace {

Summary summary_of(const BenchmarkSize& size) {
  return summarize(benchmark_experiment(size), benchmark_corpus(size));
}

ProgramOutput bench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bench");
  return heed_in("/", arguments);
}

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line, "out"));
  return lines;
}

}  // namespace

TEST_CASE("bench: parameter counts of the models") {
  const std::map<std::string, int64_t> known{
      {"micro", 4'000},
      {"names16", 4'000},
      {"names32", 12 * 32 * 32 + 13 * 32 + (27 + 16) * 32 + 2 * 32},
      {"names64", 12 * 64 * 64 + 13 * 64 + (27 + 16) * 64 + 2 * 64},
      {"tiny", 106'240},
      {"babycpu", 809'856},
      {"baby", 10'770'816},
      // The checkpoint of GPT-2 small, with 64 instead of 1024 positions.
      {"gpt2", 124'439'808 - (1024 - 64) * 768},
      // llama2.c's, which shares the weights of the embedding and the head too: D of each norm.
      {"stories15M", 32'000 * 288 + 6 * (4 * 288 * 288 + 3 * 288 * 768) + (2 * 6 + 1) * 288},
      {"110M", 32'000 * 768 + 12 * (4 * 768 * 768 + 3 * 768 * 2048) + (2 * 12 + 1) * 768},
      {"reverse", 242'304},
      // Vaswani et al.: encoder and decoder, 6 (4 D² + 2 D F) + 6 (8 D² + 2 D F), biases, norms,
      // embeddings, positions and head.
      {"base", 44'040'192 + 6 * (4 * 512 + 2560 + 4 * 512) + 6 * (8 * 512 + 2560 + 6 * 512) +
                   2 * 2 * 512 + 2 * 8000 * 512 + 32 * 512},
  };
  CHECK(std::size(benchmark_sizes) == known.size());
  for (const auto& [known_name, parameters] : known) {
    const auto& name = known_name;
    CAPTURE(name);
    CHECK(summary_of(benchmark_size(name)).parameters == parameters);
  }
}

TEST_CASE("bench: batches have the configured shape and cover the vocabulary") {
  for (const BenchmarkSize& size : benchmark_sizes) {
    CAPTURE(size.name);
    const Experiment experiment = benchmark_experiment(size);
    CHECK_NOTHROW(experiment.model.validate());
    const Corpus corpus = benchmark_corpus(size);
    const Dataset& data = corpus.splits.at("train");
    REQUIRE(data.size == size.batch);
    REQUIRE(experiment.train.batch_size == size.batch);  // one step reads all examples
    int32_t largest = 0;
    for (int64_t i = 0; i < data.size; ++i) {
      Example example;
      data.get(i, example);
      CHECK(static_cast<int64_t>(example.source.size()) == size.source);
      const int64_t length = size.names ? names_of_a_batch[i] : size.input;
      CHECK(static_cast<int64_t>(example.input.size()) == length);
      CHECK(static_cast<int64_t>(example.target.size()) == length);
      // As in a run, a target is the next input, and an encoder-decoder reads <bos> first.
      const bool has_source = size.source > 0;
      CHECK(
          std::equal(example.target.begin(), example.target.end() - 1, example.input.begin() + 1));
      const Vocabulary& vocabulary = corpus.target->vocabulary();
      CHECK(vocabulary.size() == size.vocabulary);
      CHECK(has_source == (example.input.front() == vocabulary.begin()));
      CHECK(has_source == (example.target.back() == vocabulary.end()));
      for (const auto* tokens : {&example.source, &example.input, &example.target})
        for (const int32_t token : *tokens) {
          CHECK(token >= 0);
          largest = std::max(largest, token);
        }
    }
    CHECK(largest < size.vocabulary);
    CHECK(largest > size.vocabulary * 9 / 10);
  }
}

TEST_CASE("bench: the loss decreases, because every step has the same batch") {
  const BenchmarkSize& size = benchmark_size("tiny");
  const Experiment experiment = benchmark_experiment(size);
  const Corpus corpus = benchmark_corpus(size);
  Trainer trainer(experiment, corpus);
  const double before = trainer.step().loss, uniform = std::log(64);
  CHECK(before > uniform);
  const BenchmarkResult result = run_benchmark(experiment, corpus, 0);
  CHECK(result.loss < uniform - 0.2);
  CHECK(result.steps == 3);
  CHECK(result.tokens == 16 * 32);
  CHECK(result.parameters == 106'240);
  CHECK(result.flops == summary_of(size).flops.total());
  CHECK(result.seconds > 0);
  CHECK(result.gemm > 0);
}

TEST_CASE("bench: ranks share a step, and see how long they exchange") {
  const BenchmarkSize& size = benchmark_size("tiny");
  Experiment experiment = benchmark_experiment(size);
  experiment.train.shards = 2;
  const Corpus corpus = benchmark_corpus(size);
  const double expected = run_benchmark(experiment, corpus, 0).loss;
  on_ranks(2, [&] {
    const BenchmarkResult result = run_benchmark(experiment, corpus, 0);
    CHECK(result.loss == expected);
    CHECK(result.exchange > 0);
  });
}

TEST_CASE("bench: prints one line of JSON for each size") {
  const ProgramOutput output = succeeded(bench({"--size", "tiny,reverse", "--size", "tiny",
                                                "--seconds", "0.05", "--json", "--threads", "1"}));
  CHECK(output.err == "");
  const std::vector<Json> lines = lines_of(output.out);
  REQUIRE(lines.size() == 3);
  const std::vector<std::string> sizes{"tiny", "reverse", "tiny"};
  for (size_t i = 0; i < lines.size(); ++i) {
    const Json& line = lines[i];
    std::vector<std::string> keys;
    for (const auto& [key, value] : line.members()) keys.push_back(key);
    CHECK(keys == std::vector<std::string>{"peer", "size", "dtype", "threads", "parameters",
                                           "ms_per_step", "tokens_per_s", "loss", "peak_rss_mb",
                                           "working_mb", "precision", "steps", "exchange_ms",
                                           "gflops_per_s", "gemm_gflops_per_s", "share_of_gemm"});
    CHECK(line.at("peer").string().starts_with("heed "));
    CHECK(line.at("size").string() == sizes[i]);
    CHECK(line.at("dtype").string() == "float32");
    CHECK(line.at("precision").string() == "highest");
    CHECK(line.at("threads").integer() == 1);
    CHECK(line.at("parameters").integer() == (i == 1 ? 242'304 : 106'240));
    CHECK(line.at("steps").integer() >= 3);
    CHECK(line.at("exchange_ms").number() == 0);
    CHECK(line.at("loss").number() > 0);
    for (const char* key : {"ms_per_step", "tokens_per_s", "gflops_per_s", "gemm_gflops_per_s"})
      CHECK(line.at(key).number() > 0);
    CHECK(line.at("share_of_gemm").number() ==
          doctest::Approx(line.at("gflops_per_s").number() / line.at("gemm_gflops_per_s").number())
              .epsilon(0.01));
    CHECK(line.at("working_mb").number() > 1);  // activations need more than 1 MB
    CHECK(line.at("working_mb").number() < line.at("peak_rss_mb").number());
  }
  // Neither the matrices of gemm_rate(), 48 MB, nor earlier sizes are counted.
  CHECK(lines[2].at("peak_rss_mb").number() ==
        doctest::Approx(lines[0].at("peak_rss_mb").number()).epsilon(0.2));
}

TEST_CASE("bench: prints a table with one row for each size") {
  const ProgramOutput output = succeeded(bench({"--size", "tiny", "--seconds", "0"}));
  CHECK(std::count(output.out.begin(), output.out.end(), '\n') == 2);
  CHECK_CONTAINS(output.out, "ms/step");
  CHECK_CONTAINS(output.out, "\ntiny             106240 ");
  CHECK_CONTAINS(output.err, "precision highest");
}

TEST_CASE("bench: the overhead of a step, and its parallel loops") {
  const auto of = [](const std::string& size, const char* threads) {
    const ProgramOutput output = succeeded(
        bench({"--overhead", "--json", "--size", size, "--seconds", "0.2", "--threads", threads}));
    CHECK(output.err == "");
    return lines_of(output.out).at(0);
  };
  const Json alone = of("tiny", "1"), two = of("tiny", "2");
  std::vector<std::string> keys;
  for (const auto& [key, value] : two.members()) keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"size", "precision", "threads", "ms_per_step",
                                         "without_loops_ms", "loops", "us_per_loop"});
  CHECK(two.at("size").string() == "tiny");
  for (const Json& line : {alone, two}) {  // the loops of this size take most of the time
    CHECK(line.at("without_loops_ms").number() > 0);
    CHECK(line.at("without_loops_ms").number() < line.at("ms_per_step").number() / 2);
  }
  CHECK(alone.at("loops").integer() == 0);
  CHECK(alone.at("us_per_loop").number() == 0);
  CHECK(two.at("loops").integer() > 20);  // at least one for each product of a layer
  CHECK(two.at("us_per_loop").number() > 0);
  CHECK(of("babycpu", "2").at("loops").integer() > two.at("loops").integer());

  const ProgramOutput table = succeeded(bench({"--overhead", "--size", "micro", "--seconds", "0"}));
  CHECK(std::count(table.out.begin(), table.out.end(), '\n') == 2);
  CHECK_CONTAINS(table.out, "without loops");
  check_rejected(bench({"--overhead", "--generate"}), 2, {"--overhead is for training steps"});
  check_rejected(bench({"--overhead", "--shards", "2"}), 2, {"--overhead is for training steps"});
}

TEST_CASE("bench: generation fills all positions of each sequence, with and without a cache") {
  const BenchmarkSize& size = benchmark_size("tiny");
  for (const bool cache : {true, false}) {
    const GenerationResult result = run_generation(size, {.batch = 3, .cache = cache}, 0);
    CHECK(result.tokens == 3 * 32);
    CHECK(result.positions == 32);
    CHECK(result.parameters == 106'240);
    CHECK(result.tokens_per_second() > 0);
  }
  CHECK_THROWS_AS(run_generation(benchmark_size("reverse"), {}, 0), Error);
}

TEST_CASE("bench: generation prints one line of JSON for each size") {
  for (const bool cache : {true, false}) {
    std::vector<std::string> arguments{"--generate", "--size", "tiny,babycpu", "--batch",
                                       "2",          "--json", "--seconds",    "0",
                                       "--threads",  "1"};
    if (!cache) arguments.emplace_back("--no-cache");
    const ProgramOutput output = succeeded(bench(arguments));
    CHECK(output.err == "");
    const std::vector<Json> lines = lines_of(output.out);
    REQUIRE(lines.size() == 2);
    for (const Json& line : lines) {
      std::vector<std::string> keys;
      for (const auto& [key, value] : line.members()) keys.push_back(key);
      CHECK(keys == std::vector<std::string>{
                        "peer", "size", "dtype", "threads", "parameters", "batch", "cache",
                        "positions", "tokens", "tokens_per_s", "precision", "weight_mb",
                        "read_gb_per_s", "memory_gb_per_s", "share_of_memory"});
      // Each step reads all weights and gives a token to both texts.
      CHECK(line.at("read_gb_per_s").number() ==
            doctest::Approx(line.at("tokens_per_s").number() / 2 * 4e-9 *
                            static_cast<double>(line.at("parameters").integer()))
                .epsilon(0.05));
      CHECK(line.at("share_of_memory").number() > 0);
      CHECK(line.at("batch").integer() == 2);
      CHECK(line.at("cache").flag() == cache);
      CHECK(line.at("threads").integer() == 1);
      CHECK(line.at("tokens").integer() == 2 * line.at("positions").integer());
      CHECK(line.at("tokens_per_s").number() > 0);
    }
    CHECK(lines[1].at("size").string() == "babycpu");
    CHECK(lines[1].at("parameters").integer() == 809'856);
  }
}

TEST_CASE("bench: generation prints a table with one row for each size") {
  const ProgramOutput output = succeeded(bench({"--generate", "--size", "tiny", "--seconds", "0"}));
  CHECK(std::count(output.out.begin(), output.out.end(), '\n') == 2);
  CHECK_CONTAINS(output.out, "tokens/s");
  CHECK_CONTAINS(output.out, "\ntiny             106240      1 ");
  CHECK_CONTAINS(output.err, "all threads read memory at ");
}

TEST_CASE("bench: rejects invalid arguments") {
  check_rejected(bench({"--generate", "--size", "reverse"}), 2, {"reverse", "language model"});
  check_rejected(bench({"--generate", "--batch", "0"}), 2, {"--batch"});
  check_rejected(bench({"--size", "tiny", "--batch", "2"}), 2, {"--batch is for --generate"});
  check_rejected(bench({"--size", "tiny", "--no-cache"}), 2, {"--no-cache is for --generate"});
  check_rejected(bench({"--size", "gtp2"}), 2,
                 {"no size 'gtp2'; did you mean 'gpt2'?; there are micro, names16, names32, "
                  "names64, tiny, babycpu, baby, gpt2, "});
  check_rejected(bench({"--size", ""}), 2, {"--size: expected a value, found ''"});
  check_rejected(bench({"--size", "tiny", "--shards", "3"}), 2,
                 {"train.shards = 3", "power of two"});
  check_rejected(bench({"--precision", "lowest"}), 2,
                 {"--precision: expected highest or high or medium, found 'lowest'"});
  check_rejected(bench({"--seconds", "-1"}), 2, {"--seconds"});
  check_rejected(bench({"--seconds", "nan"}), 2, {"--seconds"});
  check_rejected(bench({"--threads", "0"}), 2, {"--threads"});
  check_rejected(bench({"tiny"}), 2, {"tiny"});
}
