#include "optim/arena_state.h"

#include <algorithm>
#include <map>

namespace heed::inline HEED_REAL {

ArenaState::ArenaState(const Arena& arena, std::vector<std::string> names)
    : arena_(arena), names_(std::move(names)) {
  for (size_t i = 0; i < names_.size(); ++i) arrays_.push_back(arena.zeros(arena.own().size()));
}

// The arrays themselves, or space for them in rank 0.
std::vector<Handle<Storage>> ArenaState::whole_arrays() const {
  if (rank_count() == 1) return arrays_;
  std::vector<Handle<Storage>> whole;
  for (size_t i = 0; rank() == 0 && i < arrays_.size(); ++i)
    whole.push_back(arena_.zeros(arena_.size()));
  return whole;
}

// Copies the slices of all ranks to the whole arrays, or back.
void ArenaState::copy(const std::vector<Handle<Storage>>& whole, bool to_whole) const {
  for (size_t i = 0; rank_count() > 1 && i < arrays_.size(); ++i)
    arena_.slices().copy(arrays_[i]->data, whole.empty() ? nullptr : whole[i]->data, to_whole);
}

std::vector<NamedParameter> ArenaState::tensors_of(
    const std::vector<Handle<Storage>>& arrays) const {
  std::vector<NamedParameter> all;
  for (size_t i = 0; i < arrays.size(); ++i)
    for (NamedParameter& tensor : arena_.tensors(names_[i], arrays[i]))
      all.push_back(std::move(tensor));
  return all;
}

std::vector<NamedParameter> ArenaState::tensors() const {
  const std::vector<Handle<Storage>> whole = whole_arrays();
  copy(whole, /*to_whole=*/true);
  return tensors_of(whole);
}

void ArenaState::load(std::span<const NamedParameter> saved, const char* what) {
  const std::vector<Handle<Storage>> whole = whole_arrays();
  std::vector<NamedParameter> own = tensors_of(whole);
  std::map<std::string_view, Tensor> by_name;
  for (const auto& [name, tensor] : saved)
    check_input(by_name.emplace(name, tensor).second, "{}: {} is repeated", what, name);
  for (const auto& [name, tensor] : own) {
    const auto found = by_name.find(name);
    check_input(found != by_name.end(),
                "{}: {} is missing; it was saved by another optimizer or model", what, name);
    check_input(found->second.shape() == tensor.shape(), "{}: {} has shape {}, this model needs {}",
                what, name, found->second.shape(), tensor.shape());
  }
  for (const auto& [name, tensor] : saved)
    check_input(std::any_of(own.begin(), own.end(),
                            [&known = name](const auto& o) { return o.name == known; }),
                "{}: {} is not part of this optimizer's state", what, name);
  for (auto& [name, tensor] : own)
    if (const Tensor& from = by_name[name]; from.data() != tensor.data())
      std::copy_n(from.data(), tensor.size(), tensor.mutable_data());
  copy(whole, /*to_whole=*/false);
}

}  // namespace heed::inline HEED_REAL
