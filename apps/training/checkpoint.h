// Checkpoints: the complete state of a run, to resume it with bitwise identical results.
//
//   checkpoints/step-200/model.safetensors      the weights
//                        optimizer.safetensors  the state of the optimizer and of averages
//                        state.json             all other state, and the SHA-256 of each file
//   checkpoints/latest, best                    links to two of them
//
// Saving is atomic: a checkpoint is written under a temporary name, synchronized with the disk, and
// renamed. Only then are the links changed and old checkpoints removed.
// Reading checks digests, names, types and shapes before any value is used, and that every value is
// finite.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/support/json.h"
#include "core/tensor_file.h"

namespace heed {

// Returns the name of what is kept of a step: "step-200".
std::string step_name(int64_t step);
// "step-200" → 200; other names → -1.
int64_t step_of_name(std::string_view name);

// Returns whether all values are finite.
bool all_finite(std::span<const float> values);

// Throws InputError unless the file has exactly these names, types and shapes.
void check_arrays(const SafetensorsFile& file, const std::vector<NamedParameter>& tensors);
// Reads an array of the type and shape of the tensor. Throws InputError if a value is not finite.
void read_array(const SafetensorsFile& file, NamedParameter tensor);

// Returns each N, in ascending order, for which a folder has an entry step-N<extension>.
std::vector<int64_t> steps_in(const std::string& folder, std::string_view extension = "");

// A file of tensors in the folder of a run.
class SavedTensors {
 public:
  // `digest` is the expected SHA-256, "" if it is not known. Errors of a damaged file end with
  // `hint`.
  explicit SavedTensors(std::string path, std::string digest = "", std::string hint = "")
      : path_(std::move(path)), digest_(std::move(digest)), hint_(std::move(hint)) {}

  const std::string& path() const { return path_; }  // of the file
  // Throws InputError unless the file exists, is not damaged, and has these names, types and
  // shapes. Reads no values.
  void check(const std::vector<NamedParameter>& tensors) const { check_shapes(opened(), tensors); }
  // Throws as check() and check_digest() do, and if a value is not finite.
  void read(const std::vector<NamedParameter>& tensors) const;
  // Throws InputError unless the file has the expected SHA-256.
  void check_digest() const;

 private:
  SafetensorsFile opened() const;
  void check_shapes(const SafetensorsFile& arrays,
                    const std::vector<NamedParameter>& tensors) const;

  std::string path_, digest_, hint_;
};

// A saved checkpoint.
class Checkpoint {
 public:
  // Throws InputError if state.json is missing or damaged. The error ends with `hint`.
  explicit Checkpoint(std::string path, std::string hint = "");

  const std::string& path() const { return path_; }
  int64_t step() const { return step_; }
  const Json& state() const { return state_; }             // as passed to save()
  const Json& digests() const { return digests_; }         // SHA-256 of the files, by name
  SavedTensors model() const { return file(model_file); }  // the weights
  SavedTensors optimizer() const { return file(optimizer_file); }

  static constexpr const char* model_file = "model.safetensors";
  static constexpr const char* optimizer_file = "optimizer.safetensors";
  static constexpr const char* state_file = "state.json";

 private:
  SavedTensors file(const char* name) const;

  std::string path_, hint_;
  int64_t step_ = 0;
  Json state_, digests_;
};

// The checkpoints of a run.
class Checkpoints {
 public:
  // Keeps the `keep` ≥ 1 newest checkpoints and the best one.
  Checkpoints(std::string folder, int64_t keep) : folder_(std::move(folder)), keep_(keep) {}

  // Writes a checkpoint, points `latest` to it and `best` to that of `best_step` (0: none).
  // `metadata` is for the file of the weights. Throws Error if a write fails or a value is
  // not finite. Earlier checkpoints stay intact.
  void save(int64_t step, const std::vector<NamedParameter>& model,
            const std::vector<NamedParameter>& optimizer, Json state, int64_t best_step,
            const Metadata& metadata = {});

  // Removes leftovers of a killed process.
  void clean_up() const;
  // Completes a save() that was killed after the rename: updates the links, removes old
  // checkpoints.
  void settle(int64_t step, int64_t best_step) const;

  std::vector<int64_t> steps() const;  // of all checkpoints, ascending
  int64_t newest_step() const;         // 0 without a checkpoint
  bool has_best() const;
  // Returns the folder of "latest", "best" or a step. Throws InputError that lists the checkpoints
  // if there is no such one.
  std::string find(const std::string& which) const;
  // Returns "; the checkpoint of step 20 is intact" for errors of a run, "" if there is none.
  std::string intact() const;
  // Opens that checkpoint. If it is damaged, the error names another one to use.
  Checkpoint open(const std::string& which) const;

 private:
  std::string path(int64_t step) const;
  void retire(int64_t step) const;
  std::string hint_for(const std::string& path) const;

  std::string folder_;
  int64_t keep_;
};

}  // namespace heed
