#include "apps/training/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/safetensors.h"
#include "core/text.h"

namespace heed {
namespace {

constexpr std::string_view step_prefix = "step-";
constexpr int64_t max_state_bytes = 1 << 20;
constexpr int64_t max_step = 1'000'000'000'000;

// "step-200" → 200; other names → -1.
int64_t step_of(std::string_view name) {
  if (!name.starts_with(step_prefix)) return -1;
  name.remove_prefix(step_prefix.size());
  int64_t step = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  return error == std::errc() && end == name.data() + name.size() ? step : -1;
}

}  // namespace

bool all_finite(const ArrayHeader& array, const void* data) {
  check(array.dtype == DType::F32, "{}: expected F32, found {}", array.name,
        dtype_name(array.dtype));
  const auto* values = static_cast<const float*>(data);
  const int64_t count = array.bytes() / static_cast<int64_t>(sizeof(float));
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += values[i] * 0;  // NaN for an infinity and for NaN
  return sum == 0;
}

void check_arrays(const SafetensorsFile& file, const std::vector<ArrayTarget>& targets) {
  const auto other = [&](const std::string& difference) {
    throw InputError(
        fmt::format("{}: of another model: {}; use the config that it was trained with",
                    file.path(), difference));
  };
  std::vector<std::string> names;
  for (const ArrayTarget& target : targets) {
    const StoredArray* stored = file.find(target.name);
    if (!stored) other(fmt::format("it has no {}", in_quotes(target.name, '\'')));
    if (stored->dtype != target.dtype || stored->dims != target.dims)
      other(fmt::format("{} is {}, not {}", in_quotes(target.name, '\''), type_text(*stored),
                        type_text(target)));
    names.push_back(target.name);
  }
  std::sort(names.begin(), names.end());
  for (const StoredArray& stored : file.arrays())
    if (!std::binary_search(names.begin(), names.end(), stored.name))
      other(fmt::format("it has {}, which the model does not have", in_quotes(stored.name, '\'')));
}

void read_array(const SafetensorsFile& file, const ArrayTarget& target) {
  file.read(*file.find(target.name), target.data);
  check_input(all_finite(target, target.data),
              "{}: {} has values that are infinite or NaN: the training that wrote it had diverged",
              file.path(), in_quotes(target.name, '\''));
}

Checkpoint::Checkpoint(std::string path, std::string hint)
    : path_(std::move(path)), hint_(std::move(hint)) {
  const std::string file = existing("state.json");
  try {
    state_ = read_json(file, "state of a checkpoint", max_state_bytes);
    const std::string digest = state_.at("state_sha256").string();
    state_.remove("state_sha256");
    check_input(sha256(state_.text()) == digest, "{}: its SHA-256 differs", file);
    step_ = state_.at("step").integer();
    check_input(0 <= step_ && step_ <= max_step, "{}: step {}", file, step_);
    digests_ = state_.at("sha256");
    for (const char* name : {model_file, optimizer_file}) (void)digests_.at(name).string();
  } catch (const InputError& error) {
    check_sound(false, file, "damaged");
  }
  state_.remove("sha256");
  const int64_t named = step_of(name_of(path_));
  check_sound(named < 0 || named == step_, file,
              fmt::format("of step {}, in the folder of step {}", step_, named));
}
void Checkpoint::check_sound(bool sound, const std::string& file, std::string_view problem) const {
  check_input(sound, "{}: {}{}", file, problem, and_hint());
}

std::string Checkpoint::and_hint() const { return hint_.empty() ? "" : "; " + hint_; }

std::string Checkpoint::existing(const char* name) const {
  std::string file = in_folder(path_, name);
  check_sound(exists(file), file, "missing");
  return file;
}

SafetensorsFile Checkpoint::open(const char* name) const {
  const std::string file = existing(name);
  try {
    return SafetensorsFile(file, file + ": damaged");
  } catch (const InputError& error) {
    throw InputError(error.what() + and_hint());
  }
}

void Checkpoint::check_digest(const char* name) const {
  const std::string file = in_folder(path_, name);
  check_sound(sha256_of_file(file) == digests_.at(name).string(), file,
              "damaged: its SHA-256 differs from that in state.json");
}

// Checks names, types and shapes before the digest, because the file can be of any size.
void Checkpoint::check_shapes(const SafetensorsFile& arrays, const char* name,
                              const std::vector<ArrayTarget>& targets) const {
  const auto bytes_of = [](const auto& all) {
    double bytes = 0;
    for (const ArrayHeader& array : all) bytes += static_cast<double>(array.bytes());
    return bytes;
  };
  try {
    check_arrays(arrays, targets);
  } catch (const InputError&) {
    // If the sizes agree, perhaps only a name is damaged.
    if (bytes_of(arrays.arrays()) == bytes_of(targets)) check_digest(name);
    throw;
  }
}

void Checkpoint::check_model(const std::vector<ArrayTarget>& targets) const {
  check_shapes(open(model_file), model_file, targets);
}

void Checkpoint::read(const char* name, const std::vector<ArrayTarget>& targets) const {
  const SafetensorsFile arrays = open(name);
  check_shapes(arrays, name, targets);
  check_digest(name);
  try {
    for (const ArrayTarget& target : targets) read_array(arrays, target);
  } catch (const InputError& error) {
    throw InputError(error.what() + and_hint());
  }
}

std::string Checkpoints::path(int64_t step) const {
  return fmt::format("{}/{}{}", folder_, step_prefix, step);
}

void Checkpoints::save(int64_t step, std::vector<NamedArray> model,
                       std::vector<NamedArray> optimizer, Json state, int64_t best_step,
                       const Metadata& metadata) {
  for (const std::vector<NamedArray>* arrays : {&model, &optimizer})
    for (const NamedArray& array : *arrays)
      check(all_finite(array, array.data), "step {}: {} has become infinite or NaN{}", step,
            array.name, intact());
  make_subfolder(folder_);  // without the run's folder: somebody may have renamed it by now
  AtomicFolder folder(path(step));
  Json digests = Json::object();
  const auto write = [&](const char* name, std::vector<NamedArray> arrays, const Metadata& about) {
    const std::string file = in_folder(folder.aside(), name);
    write_safetensors(file, std::move(arrays), about);
    digests.set(name, sha256_of_file(file));
  };
  write(Checkpoint::model_file, std::move(model), metadata);
  write(Checkpoint::optimizer_file, std::move(optimizer), {});
  state.set("step", step).set("sha256", std::move(digests));
  state.set("state_sha256", sha256(state.text()));
  write_file(in_folder(folder.aside(), "state.json"), state.text(2) + "\n");

  if (exists(path(step))) retire(step);
  folder.commit();
  settle(step, best_step);
}

void Checkpoints::settle(int64_t step, int64_t best_step) const {
  point_link(in_folder(folder_, "latest"), name_of(path(step)));
  const std::string best = in_folder(folder_, "best");
  if (best_step > 0 && exists(path(best_step)))
    point_link(best, name_of(path(best_step)));
  else
    remove_all(best);
  const std::vector<int64_t> all = steps();
  for (size_t i = 0; i + static_cast<size_t>(keep_) < all.size(); ++i)
    if (all[i] != best_step) retire(all[i]);
}

// Renames the folder before removing it, so that every folder step-N is complete.
void Checkpoints::retire(int64_t step) const {
  const std::string aside = fmt::format("{}/{}retired-{}", folder_, Aside::prefix, step);
  remove_all(aside);
  rename_in_folder(path(step), aside);
  remove_all(aside);
}

void Checkpoints::clean_up() const {
  for (const std::string& name : names_in_folder(folder_))
    if (name.starts_with(Aside::prefix)) remove_all(in_folder(folder_, name));
}

std::vector<int64_t> Checkpoints::steps() const {
  std::vector<int64_t> all;
  for (const std::string& name : names_in_folder(folder_))
    if (const int64_t step = step_of(name); step >= 0) all.push_back(step);
  std::sort(all.begin(), all.end());
  return all;
}

int64_t Checkpoints::newest_step() const {
  const std::vector<int64_t> all = steps();
  return all.empty() ? 0 : all.back();
}

bool Checkpoints::has_best() const { return exists(in_folder(folder_, "best")); }

std::string Checkpoints::find(const std::string& which) const {
  const std::vector<int64_t> all = steps();
  check_input(!all.empty(), "{}: no checkpoint yet", folder_);
  if (which == "latest") return path(all.back());  // the link may be older, if a save was killed
  const std::string best = link_target(in_folder(folder_, "best"));
  const std::string name = which == "best" ? best : fmt::format("{}{}", step_prefix, which);
  const std::string folder = in_folder(folder_, name);
  check_input(step_of(name) >= 0 && exists(folder), "{}: no checkpoint {}; there are {}{}", folder_,
              in_quotes(which, '\''), best.empty() ? "latest, " : "best, latest, ",
              shortened(joined(all)));
  return folder;
}

Checkpoint Checkpoints::open(const std::string& which) const {
  const std::string folder = find(which);
  return Checkpoint(folder, hint_for(folder));
}

std::string Checkpoints::intact() const {
  const std::vector<int64_t> all = steps();
  return all.empty() ? "" : fmt::format("; the checkpoint of step {} is intact", all.back());
}

std::string Checkpoints::hint_for(const std::string& damaged) const {
  std::vector<int64_t> others = steps();
  std::erase_if(others, [&](int64_t step) { return path(step) == damaged; });
  if (others.empty()) return "there is no other checkpoint: train again";
  return fmt::format("use another with --checkpoint ({}), or remove {} to resume from step {}",
                     shortened(joined(others)), damaged, others.back());
}

}  // namespace heed
