#include "apps/training/snapshots.h"

#include <algorithm>
#include <bit>

#include "apps/support/files.h"
#include "data/files.h"

namespace heed {

constexpr std::string_view snapshot_extension = ".safetensors";

bool Snapshots::is_due(int64_t step) {
  const auto from_two = [](int64_t n) { return std::has_single_bit(static_cast<uint64_t>(n)); };
  return from_two(step) || (step % 3 == 0 && from_two(step / 3));
}

std::string Snapshots::path(int64_t step) const {
  return in_folder(folder_, step_name(step) + std::string(snapshot_extension));
}

void Snapshots::save(int64_t step, const std::vector<NamedParameter>& model, int64_t keep,
                     const Metadata& metadata) const {
  int64_t bytes = 0;
  for (const NamedParameter& each : model) {
    if (!all_finite(each.tensor.values())) return;
    bytes += array_of(each).bytes();
  }
  if (keep == 0 || bytes > max_bytes) return;
  make_subfolder(folder_);
  write_tensors(path(step), model, metadata);
  const auto kept = static_cast<size_t>(std::min(keep, max_bytes / file_size(path(step))));
  const std::vector<int64_t> all = steps();
  for (size_t i = 0; i + kept < all.size(); ++i) remove_all(path(all[i]));
}

void Snapshots::settle(int64_t step) const {
  for (const int64_t later : steps())
    if (later > step) remove_all(path(later));
  remove_leftovers_in(folder_);
}

std::vector<int64_t> Snapshots::steps() const { return steps_in(folder_, snapshot_extension); }

}  // namespace heed
