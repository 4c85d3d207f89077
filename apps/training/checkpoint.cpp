#include "apps/training/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"

namespace heed {

constexpr std::string_view step_prefix = "step-";
constexpr int64_t max_state_bytes = 1 << 20;
constexpr int64_t max_step = 1'000'000'000'000;

std::string step_name(int64_t step) { return fmt::format("{}{}", step_prefix, step); }

int64_t step_of_name(std::string_view name) {
  if (!name.starts_with(step_prefix)) return -1;
  name.remove_prefix(step_prefix.size());
  int64_t step = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  return error == std::errc() && end == name.data() + name.size() ? step : -1;
}

bool all_finite(std::span<const float> values) {
  const float* const all = values.data();
  const auto count = std::ssize(values);
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += all[i] * 0;  // NaN for an infinity and for NaN
  return sum == 0;
}

void check_arrays(const SafetensorsFile& file, const std::vector<NamedParameter>& tensors) {
  const auto other = [&](const std::string& difference) {
    throw InputError(
        fmt::format("{}: of another model: {}; use the config that it was trained with",
                    file.path(), difference));
  };
  std::vector<std::string> names;
  for (const NamedParameter& tensor : tensors) {
    const NamedArray expected = array_of(tensor), *stored = file.find(tensor.name);
    if (!stored) other(fmt::format("it has no {}", in_quotes(tensor.name, '\'')));
    if (stored->dtype != expected.dtype || stored->dims != expected.dims)
      other(fmt::format("{} is {}, not {}", in_quotes(tensor.name, '\''), type_text(*stored),
                        type_text(expected)));
    names.push_back(tensor.name);
  }
  std::sort(names.begin(), names.end());
  for (const NamedArray& stored : file.arrays())
    if (!std::binary_search(names.begin(), names.end(), stored.name))
      other(fmt::format("it has {}, which the model does not have", in_quotes(stored.name, '\'')));
}

void read_array(const SafetensorsFile& file, NamedParameter tensor) {
  file.read(*file.find(tensor.name), tensor.tensor.mutable_data());
  check_input(all_finite(tensor.tensor.values()),
              "{}: {} has values that are infinite or NaN: the training that wrote it had diverged",
              file.path(), in_quotes(tensor.name, '\''));
}

std::vector<int64_t> steps_in(const std::string& folder, std::string_view extension) {
  std::vector<int64_t> all;
  for (std::string_view name : names_in_folder(folder)) {
    if (!name.ends_with(extension)) continue;
    name.remove_suffix(extension.size());
    if (const int64_t step = step_of_name(name); step >= 0) all.push_back(step);
  }
  std::sort(all.begin(), all.end());
  return all;
}

// Calls use(). A hint follows its errors.
template <class Use>
static auto with_hint(const std::string& hint, const Use& use) {
  try {
    return use();
  } catch (const InputError& error) {
    throw InputError(error.what() + hint);
  }
}

void SavedTensors::check_digest() const {
  check_input(digest_.empty() || sha256_of_file(path_) == digest_,
              "{}: damaged: its SHA-256 differs from that in state.json{}", path_, hint_);
}

SafetensorsFile SavedTensors::opened() const {
  check_input(exists(path_), "{}: missing{}", path_, hint_);
  return with_hint(hint_, [&] { return SafetensorsFile(path_, path_ + ": damaged"); });
}

// Checks names, types and shapes before the digest, because the file can be of any size.
void SavedTensors::check_shapes(const SafetensorsFile& arrays,
                                const std::vector<NamedParameter>& tensors) const {
  try {
    check_arrays(arrays, tensors);
  } catch (const InputError&) {
    double more = 0;  // bytes in the file than in the tensors
    for (const NamedArray& array : arrays.arrays()) more += static_cast<double>(array.bytes());
    for (const NamedParameter& tensor : tensors)
      more -= static_cast<double>(array_of(tensor).bytes());
    if (more == 0) check_digest();  // perhaps only a name is damaged
    throw;
  }
}

void SavedTensors::read(const std::vector<NamedParameter>& tensors) const {
  const SafetensorsFile arrays = opened();
  check_shapes(arrays, tensors);
  check_digest();
  with_hint(hint_, [&] {
    for (const NamedParameter& tensor : tensors) read_array(arrays, tensor);
  });
}

Checkpoint::Checkpoint(std::string path, std::string hint)
    : path_(std::move(path)), hint_(hint.empty() ? "" : "; " + std::move(hint)) {
  const std::string file = in_folder(path_, state_file);
  check_input(exists(file), "{}: missing{}", file, hint_);
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
    throw InputError(fmt::format("{}: damaged{}", file, hint_));
  }
  state_.remove("sha256");
  const int64_t named = step_of_name(name_of(path_));
  check_input(named < 0 || named == step_, "{}: of step {}, in the folder of step {}{}", file,
              step_, named, hint_);
}

SavedTensors Checkpoint::file(const char* name) const {
  return SavedTensors(in_folder(path_, name), digests_.at(name).string(), hint_);
}

std::string Checkpoints::path(int64_t step) const { return in_folder(folder_, step_name(step)); }

void Checkpoints::save(int64_t step, const std::vector<NamedParameter>& model,
                       const std::vector<NamedParameter>& optimizer, Json state, int64_t best_step,
                       const Metadata& metadata) {
  for (const std::vector<NamedParameter>* tensors : {&model, &optimizer})
    for (const NamedParameter& each : *tensors)
      check(all_finite(each.tensor.values()), "step {}: {} has become infinite or NaN{}", step,
            each.name, intact());
  make_subfolder(folder_);  // without the run's folder: somebody may have renamed it by now
  AtomicFolder folder(path(step));
  Json digests = Json::object();
  const auto write = [&](const char* name, const std::vector<NamedParameter>& tensors,
                         const Metadata& about) {
    const std::string file = in_folder(folder.aside(), name);
    write_tensors(file, tensors, about);
    digests.set(name, sha256_of_file(file));
  };
  write(Checkpoint::model_file, model, metadata);
  write(Checkpoint::optimizer_file, optimizer, {});
  state.set("step", step).set("sha256", std::move(digests));
  state.set("state_sha256", sha256(state.text()));
  write_file(in_folder(folder.aside(), Checkpoint::state_file), state.text(2) + "\n");

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

void Checkpoints::clean_up() const { remove_leftovers_in(folder_); }

std::vector<int64_t> Checkpoints::steps() const { return steps_in(folder_); }

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
  const std::string name = which == "best" ? best : std::string(step_prefix) + which;
  const std::string folder = in_folder(folder_, name);
  check_input(step_of_name(name) >= 0 && exists(folder), "{}: no checkpoint {}; there are {}{}",
              folder_, in_quotes(which, '\''), best.empty() ? "latest, " : "best, latest, ",
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
