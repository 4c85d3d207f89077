// What a training writes into the folder of its run, in an order that leaves a run that resumes,
// whenever the process is killed.
//
//   RunWriter run(RunFolder::create("runs/a"), false, 1);   // locks the folder
//   TrainingLoop loop(experiment, corpus, &run);            // loads a checkpoint, or rejects it
//   run.begin(config, corpus, loop.steps_done(), 0);        // config, vocabulary, record, log
//   loop.run(1000);                                         // metrics and checkpoints
//   loop.finish();                                          // result.json
//   run.end();
//
// Every function that writes first checks that the folder is still the locked one. It throws Error
// if that is not so, or if it cannot write. With ranks (core/ranks.h), only rank 0 has a writer.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "apps/config/load_config.h"
#include "apps/support/json.h"
#include "apps/training/checkpoint.h"
#include "apps/training/metrics.h"
#include "apps/training/result.h"
#include "apps/training/run_folder.h"
#include "apps/training/snapshots.h"
#include "data/corpus.h"

namespace heed {

class RunWriter {
 public:
  // Locks the run: other processes cannot train in it until this one ends. Throws InputError, with
  // the id of the process, if one trains in it, and if a new run has files. Keeps the
  // `keep_checkpoints` ≥ 1 newest checkpoints and the best one.
  explicit RunWriter(const RunFolder& run, bool resumes = true, int64_t keep_checkpoints = 1);
  // Ends the session in run.json if an exception did.
  ~RunWriter();
  RunWriter(const RunWriter&) = delete;
  RunWriter& operator=(const RunWriter&) = delete;

  const RunFolder& folder() const { return run_; }
  bool resumes() const { return resumes_; }
  const Checkpoints& checkpoints() const { return checkpoints_; }
  // Throws Error if the folder is not the one that was locked: it was renamed, deleted or replaced.
  void check_held() const;

  // Begins or continues the training from a step, that of a checkpoint or 0. Removes what was
  // written after the step, writes what the run needs besides checkpoints, and adds a session of
  // this process to run.json. `best_step` is that of the best checkpoint, or 0. `sweep` is the
  // folder of the sweep that the run belongs to, or "". Throws InputError, and changes nothing, if
  // metrics.jsonl or run.json is damaged.
  void begin(const LoadedConfig& config, const Corpus& corpus, int64_t from_step, int64_t best_step,
             const std::string& sweep = "");
  // Appends a row to metrics.jsonl.
  void row(const Json& row);
  // Saves a checkpoint: see Checkpoints::save(). All rows are on the disk before it is.
  void save(int64_t step, const std::vector<NamedParameter>& model,
            const std::vector<NamedParameter>& optimizer, Json state, int64_t best_step,
            const Metadata& metadata);
  // Keeps the weights after a step: see Snapshots::save().
  void snapshot(int64_t step, const std::vector<NamedParameter>& model, int64_t keep,
                const Metadata& metadata);
  // Writes result.json.
  void result(const TrainingResult& result);
  // Ends the session. Throws Error if a line of the log could not be written.
  void end();
  // Records what ended the training: in error.txt, until the run is resumed. Before the end of
  // begin() removes a new run instead, and leaves one that is resumed as it is.
  void failed(const std::exception& error);

 private:
  enum class Phase { locked, training, ended };

  void begin_session(const LoadedConfig& config, const Corpus& corpus, int64_t from_step,
                     const std::string& sweep);
  template <class Write>
  void held(const Write& write) const;  // writes, with check_held() before, and after an Error
  void restore();                       // what was deleted during the training
  void end_session();
  void write_session() const;

  RunFolder run_;
  bool resumes_;
  Descriptor lock_;
  Checkpoints checkpoints_;
  std::optional<MetricsFile> metrics_;
  std::vector<std::pair<std::string, std::string>> written_;  // files of begin(), and their texts
  Phase phase_ = Phase::locked;
  Json earlier_, session_;  // of run.json; null without a session
  double started_ = 0, cpu_started_ = 0;
};

}  // namespace heed
