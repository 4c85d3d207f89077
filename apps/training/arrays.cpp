#include "apps/training/arrays.h"

#include <fmt/format.h>

#include "apps/support/files.h"
#include "apps/support/names.h"
#include "apps/training/run.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"

namespace heed {
namespace {

static_assert(sizeof(real) == 4, "checkpoints hold float32");

ArrayHeader header_of(const NamedParameter& parameter) {
  const Shape& shape = parameter.tensor.shape();
  return {parameter.name, DType::F32, {shape.begin(), shape.end()}};
}

// Returns the file with the weights of a run, or the path itself if it is a file.
std::string weights_file(const std::string& path) {
  check_input(exists(path), "train.load: {}: no such run or file", path);
  if (!is_folder(path)) return path;
  const Checkpoints checkpoints(RunFolder::open(path).checkpoints(), 1);
  return in_folder(checkpoints.find("best"), "model.safetensors");
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
                  const std::vector<NamedParameter>& parameters) {
  const SafetensorsFile file(weights_file(path));
  std::vector<NamedParameter> chosen;
  for (const NamedParameter& p : parameters)
    if (matches_any(p.name, patterns)) chosen.push_back(p);
  check_input(!chosen.empty(),
              "train.load_names: no parameter matches; `heed summary` lists their names");
  for (const ArrayTarget& target : targets_of(chosen)) {
    const StoredArray* stored = file.find(target.name);
    check_input(stored != nullptr,
                "train.load: {} has no {}; set train.load_names to the parameters to load",
                file.path(), target.name);
    check_input(stored->dtype == target.dtype && stored->dims == target.dims,
                "train.load: {}: expected {} of type F32 [{}], found {} [{}]", file.path(),
                target.name, joined(target.dims), dtype_name(stored->dtype),
                shortened(joined(stored->dims)));
    file.read(*stored, target.data);
  }
}

}  // namespace heed
