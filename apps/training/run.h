// The folder of a run. Evaluation and generation need nothing outside of it.
//
//   config.toml      every value of the experiment
//   vocabulary.json  the tokens that the model reads and generates
//   metrics.jsonl    losses and scores by step, one JSON object a line
//   train.log        the log
//   checkpoints/     apps/training/checkpoint.h
//   result.json      the scores of the best checkpoint, at the end
#pragma once

#include <cstdint>
#include <string>

#include "apps/support/json.h"

namespace heed {

class RunFolder {
 public:
  // Creates the folder. Throws InputError if it is not empty.
  static RunFolder create(const std::string& path);
  // Opens a run. Throws InputError if the folder holds none.
  static RunFolder open(const std::string& path);

  // Undoes create() if training could not start.
  void discard() const;

  const std::string& path() const { return path_; }
  std::string config() const { return path_ + "/config.toml"; }
  std::string vocabulary() const { return path_ + "/vocabulary.json"; }
  std::string metrics() const { return path_ + "/metrics.jsonl"; }
  std::string log() const { return path_ + "/train.log"; }
  std::string checkpoints() const { return path_ + "/checkpoints"; }
  std::string result() const { return path_ + "/result.json"; }

 private:
  explicit RunFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Returns a name for a new run: runs/<config>-<UTC time>, with a number if that exists.
std::string new_run_path(const std::string& config_path);

// Keeps other processes from training in a run, until the process ends. Throws InputError with the
// id of the process if there is one already.
class RunLock {
 public:
  explicit RunLock(const RunFolder& run);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int file_;
};

// metrics.jsonl, open for appending. Each row is an object with a member "step".
class MetricsFile {
 public:
  // Keeps the rows up to `last_step`. Removes later rows, and a last row that is incomplete.
  MetricsFile(const std::string& path, int64_t last_step);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  void write(const Json& row);
  void sync();  // waits until all rows are on the disk

 private:
  std::string path_;
  int file_;
};

}  // namespace heed
