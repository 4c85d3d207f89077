#include "apps/training/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unistd.h>

#include "apps/support/files.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/safetensors_header.h"

namespace heed {
namespace {

constexpr std::string_view step_prefix = "step-";
constexpr int64_t largest_state = 64 << 20;

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// The number of "step-200"; -1 for another name.
int64_t step_of(std::string_view name) {
  if (!name.starts_with(step_prefix)) return -1;
  name.remove_prefix(step_prefix.size());
  int64_t step = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  return error == std::errc() && end == name.data() + name.size() ? step : -1;
}

// What a symbolic link says; "" if there is none.
std::string link_target(const std::string& link) {
  char target[256];
  const ssize_t length = ::readlink(link.c_str(), target, sizeof target);
  return std::string(target, static_cast<size_t>(std::max<ssize_t>(length, 0)));
}

std::string type_text(const ArrayHeader& array) {
  return fmt::format("{} [{}]", dtype_name(array.dtype), joined(array.dims));
}

}  // namespace

void read_arrays(const SafetensorsFile& file, const std::vector<ArrayTarget>& targets) {
  const auto other = [&](const std::string& difference) {
    throw InputError(
        fmt::format("{}: of another model: {}; its config must be the one it was "
                    "trained with",
                    file.path(), difference));
  };
  std::vector<std::string> wanted;
  for (const ArrayTarget& target : targets) {
    const StoredArray* stored = file.find(target.name);
    if (!stored) other(fmt::format("it has no {}", quoted_name(target.name)));
    if (stored->dtype != target.dtype || stored->dims != target.dims)
      other(fmt::format("{} is {}, not {}", quoted_name(target.name), type_text(*stored),
                        type_text(target)));
    wanted.push_back(target.name);
  }
  std::sort(wanted.begin(), wanted.end());
  for (const StoredArray& stored : file.arrays())
    if (!std::binary_search(wanted.begin(), wanted.end(), stored.name))
      other(fmt::format("it has {}, which the model has not", quoted_name(stored.name)));
  for (const ArrayTarget& target : targets) file.read(*file.find(target.name), target.data);
}

Checkpoint::Checkpoint(std::string path, std::string way_out)
    : path_(std::move(path)), way_out_(std::move(way_out)) {
  const std::string file = in_folder(path_, "state.json");
  check_sound(exists(file), file, "missing");
  try {
    state_ = Json::parse(read_file(file, "state of a checkpoint", largest_state), file);
    const std::string digest = state_.at("state_sha256").string();
    state_.remove("state_sha256");
    check_input(sha256(state_.text()) == digest, "{}: its SHA-256 is not the one it holds", file);
    step_ = state_.at("step").integer();
    digests_ = state_.at("sha256");
    state_.remove("sha256");
  } catch (const InputError& error) {
    check_sound(false, file, "damaged");
  }
}

void Checkpoint::check_sound(bool sound, const std::string& file, const char* problem) const {
  check_input(sound, "{}: {}{}{}", file, problem, way_out_.empty() ? "" : "; ", way_out_);
}

void Checkpoint::read(const char* name, const std::vector<ArrayTarget>& targets) const {
  const std::string file_name = fmt::format("{}.safetensors", name);
  const std::string file = in_folder(path_, file_name);
  check_sound(exists(file), file, "missing");
  check_sound(sha256_of_file(file) == digests_.at(file_name).string(), file,
              "damaged: its SHA-256 is not the one in state.json");
  read_arrays(SafetensorsFile(file), targets);
}

std::string Checkpoints::path(int64_t step) const {
  return fmt::format("{}/{}{}", folder_, step_prefix, step);
}

void Checkpoints::save(int64_t step, std::vector<NamedArray> model,
                       std::vector<NamedArray> optimizer, Json state, int64_t best_step) {
  make_folders(folder_);
  AtomicFolder folder(path(step));
  Json digests = Json::object();
  const auto write = [&](const std::string& name, std::vector<NamedArray> arrays) {
    const std::string file = in_folder(folder.aside(), name);
    write_safetensors(file, std::move(arrays));
    digests.set(name, sha256_of_file(file));
  };
  write("model.safetensors", std::move(model));
  write("optimizer.safetensors", std::move(optimizer));
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

// Renamed first: a folder with a step's name is always whole.
void Checkpoints::retire(int64_t step) const {
  const std::string aside = fmt::format("{}/{}retired-{}", folder_, AtomicFolder::prefix, step);
  remove_all(aside);
  rename_in_folder(path(step), aside);
  remove_all(aside);
}

void Checkpoints::clean_up() const {
  for (const std::string& name : names_in_folder(folder_))
    if (name.starts_with(AtomicFolder::prefix)) remove_all(in_folder(folder_, name));
}

std::vector<int64_t> Checkpoints::steps() const {
  std::vector<int64_t> all;
  for (const std::string& name : names_in_folder(folder_))
    if (const int64_t step = step_of(name); step >= 0) all.push_back(step);
  std::sort(all.begin(), all.end());
  return all;
}

bool Checkpoints::has_best() const { return exists(in_folder(folder_, "best")); }

std::string Checkpoints::find(const std::string& which) const {
  const std::vector<int64_t> all = steps();
  check_input(!all.empty(), "{}: no checkpoint yet", folder_);
  if (which == "latest") return path(all.back());  // a killed writer may have left the link behind
  const std::string best = link_target(in_folder(folder_, "best"));
  const std::string name = which == "best" ? best : fmt::format("{}{}", step_prefix, which);
  const std::string wanted = in_folder(folder_, name);
  check_input(step_of(name) >= 0 && exists(wanted), "{}: no checkpoint '{}'; there are {}{}",
              folder_, which, best.empty() ? "latest, " : "best, latest, ", joined(all));
  return wanted;
}

Checkpoint Checkpoints::open(const std::string& which) const {
  const std::string wanted = find(which);
  return Checkpoint(wanted, way_out_of(wanted));
}

std::string Checkpoints::way_out_of(const std::string& damaged) const {
  std::vector<int64_t> others = steps();
  std::erase_if(others, [&](int64_t step) { return path(step) == damaged; });
  if (others.empty()) return "there is no other checkpoint: train again";
  return fmt::format("use another with --checkpoint ({}), or remove {} to resume from step {}",
                     joined(others), damaged, others.back());
}

}  // namespace heed
