// Several threads that use one run, several runs, or a run while another one is trained. The thread
// sanitizer runs these tests too, in a program of their own (test_run).
#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "apps/config/load_config.h"
#include "apps/run/run.h"
#include "apps/training/load_data.h"
#include "apps/training/training_loop.h"
#include "core/parallel.h"
#include "temporary.h"

using namespace heed;

namespace {

constexpr const char* head =
    "[train]\nsteps = 4\nbatch_size = 8\nevaluate_every = 2\ncheckpoint_every = 2\n"
    "[model]\nlayers = 1\ndim = 16\nheads = 2\n";

struct RunsToShare : TemporaryFolder {
  int threads = thread_count();
  RunsToShare() {
    set_thread_count(1);  // loops on threads of their own would wait for one another's processors
    write_file(path + "/pairs.tsv", pairs());
    train("copy", "kind = 'seq2seq'\n[data]\nkind = 'copy'\nsymbols = 5\nlengths = [1, 4]\n" +
                      std::string("val_size = 20\ntest_size = 20\n"));
    train("sums", "kind = 'language_model'\n[data]\nkind = 'addition'\ndigits = 1\n");
    train("words",
          "kind = 'seq2seq'\npositional.kind = 'relative'\n[data]\nkind = 'pairs'\n"
          "path = 'pairs.tsv'\nlevel = 'subword'\nmax_vocabulary = 300\n");
  }
  ~RunsToShare() { set_thread_count(threads); }
  static std::string pairs() {
    std::string lines;
    for (int i = 0; i < 80; ++i)
      lines += fmt::format("{} {}\tno {}\n", i % 2 ? "odd" : "even", i, i / 2);
    return lines;
  }
  // What `heed train` does in a folder.
  void train(const std::string& name, const std::string& config) const {
    write_file(path + "/" + name + ".toml", head + config);
    const LoadedConfig loaded = load_config(path + "/" + name + ".toml", {});
    const Corpus corpus = load_data(loaded);
    RunWriter run(RunFolder::create(path + "/" + name), false);
    TrainingLoop loop(loaded.experiment, corpus, &run);
    run.begin(loaded, corpus, 0, 0);
    loop.run(loaded.experiment.train.steps);
    loop.finish();
    run.end();
  }
};

// Calls f(number) on `count` threads at once.
void at_once(int count, const std::function<void(int)>& f) {
  std::vector<std::thread> threads;
  for (int number = 0; number < count; ++number) threads.emplace_back(f, number);
  for (std::thread& thread : threads) thread.join();
}

// All that a program may ask of a run.
using Answer = std::pair<std::vector<std::string>, std::map<std::string, double>>;
Answer answer_of(const Run& run, const std::string& name, int call) {
  if (name == "sums") return {run.generate(call % 2 ? "34" : "45", {.temperature = 1}), {}};
  const std::vector<std::string> lines =
      name == "copy" ? std::vector<std::string>{"1 2 3", "4", "", "0 1 2 3 4 0 1"}
                     : std::vector<std::string>{"odd 7", "even \u2581 12"};
  if (call % 3 == 2) return {{}, run.evaluate("val")};
  return {run.predict(lines, {.beam = 1 + call % 3}), {}};
}

}  // namespace

TEST_CASE("run threads: several threads get what one gets, of one run and of several") {
  const RunsToShare folder;
  const std::vector<std::string> names = {"copy", "sums", "words"};
  constexpr int calls = 3;
  std::vector<std::vector<Answer>> alone;
  for (const std::string& name : names) {
    const Run run(folder / name);
    for (int call = 0; call < calls; ++call)
      alone.emplace_back().push_back(answer_of(run, name, call));
  }
  std::atomic<int> differences = 0;
  const auto ask = [&](const Run& run, size_t name, int first) {
    for (int i = 0; i < calls; ++i) {
      const int call = (first + i) % calls;
      const Answer& expected = alone[name * calls + static_cast<size_t>(call)][0];
      if (answer_of(run, names[name], call) != expected) ++differences;
    }
  };
  // One run that has computed nothing yet.
  for (size_t name = 0; name < names.size(); ++name) {
    const Run run(folder / names[name]);
    at_once(3, [&](int number) { ask(run, name, number); });
  }
  CHECK(differences == 0);
  // A run for each thread, which loads it.
  at_once(3, [&](int number) {
    const auto name = static_cast<size_t>(number);
    ask(Run(folder / names[name]), name, number);
  });
  CHECK(differences == 0);
}

TEST_CASE("run threads: a run answers while another one is trained") {
  const RunsToShare folder;
  const Run run(folder / "copy");
  const std::string config =
      "kind = 'seq2seq'\n[data]\nkind = 'reverse'\nlengths = [1, 4]\n"
      "val_size = 20\ntest_size = 20\n";
  folder.train("alone", config);
  const Answer alone = answer_of(run, "copy", 0);
  std::atomic<bool> differs = false, done = false;
  at_once(2, [&](int number) {
    if (number == 0) {
      folder.train("beside", config);
      done = true;
    }
    while (!done)
      if (answer_of(run, "copy", 0) != alone) differs = true;
  });
  CHECK_FALSE(differs);
  const std::string weights = "/checkpoints/step-4/model.safetensors";
  CHECK(read_file(folder / ("beside" + weights), "weights") ==
        read_file(folder / ("alone" + weights), "weights"));
}
