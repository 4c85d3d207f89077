// The state of an optimizer in a file: its moments, the number of its steps and its learning rate.
//
//   save(optimizer, "optimizer.safetensors");
//   load(optimizer, "optimizer.safetensors");  // the next steps are bitwise those of the saved one
#pragma once

#include <span>
#include <string>
#include <vector>

#include "optim/optimizer.h"

namespace heed::inline HEED_REAL {

// Writes the state in the safetensors format. The file appears whole or not at all. Throws Error
// with the path if it cannot be written.
void save(const Optimizer& optimizer, const std::string& path);

// Restores a state that save() wrote. Throws InputError with the path, and changes nothing, if the
// file is missing or damaged, or belongs to another kind of optimizer or to other parameters.
void load(Optimizer& optimizer, const std::string& path);

// The arrays of the rule, as ArenaState::tensors() returns them: exp_avg.<parameter> and so on.
std::vector<NamedParameter> state_of(const Optimizer& optimizer);
// Restores such a state. The next steps are bitwise those of the saved optimizer. Throws InputError
// as ArenaState::load() does.
void load_state(Optimizer& optimizer, int64_t steps, std::span<const NamedParameter> saved);

}  // namespace heed::inline HEED_REAL
