// A trained run, for programs that use heed as a library: target heed::run, header <heed/run.h>.
//
//   const heed::Run run("runs/reverse");
//   std::puts(run.predict({"3 14 15 9 26"})[0].c_str());
//
// The methods read the folder of the run and nothing else; evaluate() also reads its data. They
// compute with the precision of the run and the thread_count() of the process (core/parallel.h).
//
// Threads: const functions of one Run, Model, Module or Tensor may be called from any number of
// threads at once, and each returns the bits that it returns alone. Call functions that change
// something under a lock of your own. Programs that call from as many threads as there are
// processors should set_thread_count(1), so that the loops of one call do not wait for those of
// another.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nn/models.h"

namespace heed {

struct TrainedModel;

// How generate() continues a prompt, and predict() searches for outputs.
struct GenerateOptions {
  // Maximum number of tokens. 0: the target of a task; else twice the source plus 10, or 500 after
  // a prompt.
  int64_t length = 0;
  // ---- of generate(), with a language model
  int64_t count = 1;                       // number of continuations
  std::optional<double> temperature = {};  // 0 takes the most likely token; default: 1, for tasks 0
  int64_t top_k = 0;                       // sample from the k most likely tokens; 0: from all
  double top_p = 1;                        // nucleus sampling
  std::optional<uint64_t> seed = {};       // default: the seed of the run
  // ---- of predict(), with an encoder-decoder
  int64_t beam = 1;           // 1: greedy
  double length_penalty = 0;  // larger values favour longer outputs
};

class Run {
 public:
  // Loads a checkpoint: "best", "latest" or a step; "": the best, or the latest if there is no
  // best. The folder "runs/latest" stands for the run in runs whose training started last. Throws
  // InputError, which says what is wrong and where, if the folder holds no run, or one that is
  // damaged.
  explicit Run(const std::string& folder, const std::string& checkpoint = "");
  Run(Run&&) noexcept;
  ~Run();

  int64_t step() const;        // of the checkpoint
  const Model& model() const;  // to compute with tensors: model().logits(inputs)
  // The parts of the run (apps/training/saved_run.h). Clients do not need it.
  const TrainedModel& loaded() const;

  // Returns continuations of a prompt by a language model, without the prompt. Without a prompt
  // they start as training examples do; a task needs one. Throws InputError for another kind of
  // model, and for a prompt that heed generate rejects: with unknown tokens, or too many.
  std::vector<std::string> generate(const std::string& prompt = "",
                                    const GenerateOptions& options = {}) const;
  // Returns the output of an encoder-decoder, or the label that a classifier assigns, for each
  // line. An empty line has an empty output. Lines are computed together, in batches of at most 32.
  // Throws InputError as generate() does, with the number of the line.
  std::vector<std::string> predict(std::span<const std::string> lines,
                                   const GenerateOptions& options = {}) const;
  std::vector<std::string> predict(const std::vector<std::string>& lines,
                                   const GenerateOptions& options = {}) const {
    return predict(std::span(lines), options);
  }
  // Returns the scores of a split by name, as heed evaluate --json prints them: "loss",
  // "perplexity", "token_accuracy", "exact_match", … Default: "test", else "val". Throws InputError
  // if the data of the run are gone or have changed.
  std::map<std::string, double> evaluate(const std::string& split = "") const;

 private:
  struct Loaded;
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace heed
