// The folder of a run, which needs nothing outside itself to evaluate or generate:
//
//   config.toml      every value of the experiment
//   vocabulary.json  what symbols the model reads and writes
//   metrics.jsonl    one JSON object a line: losses and scores by step
//   train.log        what was said
//   checkpoints/     apps/training/checkpoint.h
//   result.json      the scores of the best checkpoint, once the run is over
#pragma once

#include <cstdint>
#include <string>

#include "apps/support/json.h"

namespace heed {

class RunFolder {
 public:
  // A new one, made with the folders above it. Throws InputError if there is a run already.
  static RunFolder create(const std::string& path);
  // One that exists. Throws InputError for a folder that holds no run.
  static RunFolder open(const std::string& path);

  // Undoes create() for a run that never began.
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

// runs/<name of the config>-<UTC time>, with a number behind it where that is taken.
std::string new_run_path(const std::string& config_path);

// Held by the one who trains in a run; given up when the process ends, however it does. Throws
// InputError, with the number of the process that holds it, if another has it.
class RunLock {
 public:
  explicit RunLock(const RunFolder& run);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int file_;
};

// metrics.jsonl, to append to. Each row is an object with a member "step".
class MetricsFile {
 public:
  // Keeps the rows up to `last_step` as they are; drops later ones, and what a killed writer left
  // half written.
  MetricsFile(const std::string& path, int64_t last_step);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  void write(const Json& row);
  void sync();  // brings all rows to the disk

 private:
  std::string path_;
  int file_;
};

}  // namespace heed
