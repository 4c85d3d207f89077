#include "apps/training/arrays.h"

#include <fmt/format.h>

#include <optional>

#include "apps/support/files.h"
#include "apps/support/log.h"
#include "apps/support/names.h"
#include "apps/training/binding.h"
#include "apps/training/saved_run.h"
#include "core/check.h"
#include "core/safetensors_header.h"

namespace heed {
namespace {

static_assert(sizeof(real) == 4, "checkpoints hold float32");

ArrayHeader header_of(const NamedParameter& parameter) {
  const Shape& shape = parameter.tensor.shape();
  return {parameter.name, DType::F32, {shape.begin(), shape.end()}};
}

// A file of weights, and the known vocabularies of its arrays.
struct Weights {
  std::string path;
  std::map<std::string, std::string> row_vocabularies = {};
  std::optional<Checkpoint> checkpoint = {};  // of a run
};

Weights weights_of(const std::string& path) {
  check_input(exists(path), "train.load: {}: no such run or file", path);
  if (!is_folder(path)) return {path};
  const SavedRun run = SavedRun::open(path);
  Checkpoint best = run.checkpoint("best");
  return {in_folder(best.path(), Checkpoint::model_file), row_vocabularies(run.vocabulary().corpus),
          std::move(best)};
}

// Throws InputError if the rows of a parameter stand for other tokens than those of the data.
void check_rows(const SafetensorsFile& file, const std::string& name, const std::string& expected,
                const std::map<std::string, std::string>& known) {
  const auto stated = file.metadata().find(vocabulary_key(name));
  const auto found = known.find(name);
  if (stated == file.metadata().end() && found == known.end()) {
    logging::warning(
        "train.load: {} does not say which tokens the rows of {} stand for; "
        "assuming those of the data, in the same order",
        file.path(), name);
    return;
  }
  check_input(
      (stated == file.metadata().end() ? found : stated)->second == expected,
      "train.load: {}: the rows of {} stand for other tokens or labels than those of the "
      "data; use data with the same vocabulary, or set train.load_names to other parameters",
      file.path(), name);
}

}  // namespace

std::vector<NamedArray> arrays_of(const std::vector<NamedParameter>& parameters) {
  std::vector<NamedArray> arrays;
  for (const NamedParameter& p : parameters) arrays.push_back({header_of(p), p.tensor.data()});
  return arrays;
}

std::vector<ArrayTarget> targets_of(const std::vector<NamedParameter>& parameters) {
  std::vector<ArrayTarget> targets;
  for (NamedParameter p : parameters) targets.push_back({header_of(p), p.tensor.mutable_data()});
  return targets;
}

void load_weights(const std::string& path, const std::vector<std::string>& patterns,
                  const std::vector<NamedParameter>& parameters,
                  const std::map<std::string, std::string>& row_vocabularies) {
  const Weights weights = weights_of(path);
  const SafetensorsFile file(weights.path);
  std::vector<NamedParameter> chosen;
  for (const NamedParameter& p : parameters)
    if (matches_any(p.name, patterns)) chosen.push_back(p);
  check_input(!chosen.empty(),
              "train.load_names: no parameter matches; `heed summary` lists their names");
  const std::vector<ArrayTarget> targets = targets_of(chosen);
  for (const ArrayTarget& target : targets) {
    const StoredArray* stored = file.find(target.name);
    check_input(stored != nullptr,
                "train.load: {} has no {}; set train.load_names to the parameters to load",
                file.path(), target.name);
    check_input(stored->dtype == target.dtype && stored->dims == target.dims,
                "train.load: {}: expected {} of type {}, found {}", file.path(), target.name,
                type_text(target), type_text(*stored));
    if (const auto rows = row_vocabularies.find(target.name); rows != row_vocabularies.end())
      check_rows(file, target.name, rows->second, weights.row_vocabularies);
  }
  if (weights.checkpoint) weights.checkpoint->check_model_digest();
  for (const ArrayTarget& target : targets) read_array(file, target);
}

}  // namespace heed
