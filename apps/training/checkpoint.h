// Checkpoints: what a run needs to go on as if it had never stopped.
//
//   checkpoints/step-200/model.safetensors      the weights
//                        optimizer.safetensors  what the optimizer remembers of them
//                        state.json             everything else, and the SHA-256 of each file
//   checkpoints/latest, best                    links to two of them
//
// One appears whole or not at all: it is written aside, brought to the disk, and renamed. Only then
// do the links move, and only then are older ones removed. What a killed writer leaves behind can
// be told by its name. On the way back nothing is believed: digests, names, types and shapes are
// compared before a number is used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/support/json.h"
#include "core/safetensors.h"

namespace heed {

// An array in memory that numbers are to be read into.
struct ArrayTarget : ArrayHeader {
  void* data = nullptr;
};

// Fills the targets. Throws InputError that shows the first difference if the file has not exactly
// their names, types and shapes; then nothing has been written.
void read_arrays(const SafetensorsFile& file, const std::vector<ArrayTarget>& targets);

// A checkpoint that exists.
class Checkpoint {
 public:
  // Throws InputError if state.json is missing or damaged. `way_out` ends the errors about damage.
  explicit Checkpoint(std::string path, std::string way_out = "");

  const std::string& path() const { return path_; }
  int64_t step() const { return step_; }
  const Json& state() const { return state_; }  // as it was given to save()
  // Both throw InputError for a file that is missing, damaged or of another model.
  void read_model(const std::vector<ArrayTarget>& targets) const { read("model", targets); }
  void read_optimizer(const std::vector<ArrayTarget>& targets) const { read("optimizer", targets); }

 private:
  void read(const char* name, const std::vector<ArrayTarget>& targets) const;
  void check_sound(bool sound, const std::string& file, const char* where) const;

  std::string path_, way_out_;
  int64_t step_ = 0;
  Json state_, digests_;
};

// The checkpoints of a run.
class Checkpoints {
 public:
  // `keep` ≥ 1 newest ones stay, and the best one.
  Checkpoints(std::string folder, int64_t keep) : folder_(std::move(folder)), keep_(keep) {}

  // Writes one and makes it `latest`. `best_step` is the step of the best one so far (this one
  // perhaps), 0 if there is none: `best` follows it. Throws Error if the disk refuses: then those
  // that were there are there still.
  void save(int64_t step, std::vector<NamedArray> model, std::vector<NamedArray> optimizer,
            Json state, int64_t best_step);

  // For a writer at its start: removes what another left half done.
  void clean_up() const;
  // For a writer that goes on from the newest: does what is left of its save(), that is, points the
  // links at it and at the best one and removes older ones.
  void settle(int64_t step, int64_t best_step) const;

  std::vector<int64_t> steps() const;  // of all that are there, ascending
  bool has_best() const;
  // The folder of "latest", which is the newest, of "best" or of a step. Throws InputError that
  // says which there are.
  std::string find(const std::string& which) const;
  // The same, opened. If it is damaged the error names another one to try.
  Checkpoint open(const std::string& which) const;

 private:
  std::string path(int64_t step) const;
  void retire(int64_t step) const;
  std::string way_out_of(const std::string& path) const;

  std::string folder_;
  int64_t keep_;
};

}  // namespace heed
