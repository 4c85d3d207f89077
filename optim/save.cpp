#include "optim/save.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <locale>
#include <sstream>

#include "core/check.h"
#include "core/tensor_file.h"
#include "optim/layout.h"

namespace heed::inline HEED_REAL {

// Returns the number that the file's metadata have under this key.
template <class T>
static T number(const std::string& path, const Metadata& metadata, const char* key) {
  const auto found = metadata.find(key);
  check_input(found != metadata.end(), "{}: no {}; it was not written by save() of an optimizer",
              path, key);
  T value{};
  std::istringstream text(found->second);  // LLVM's library has no from_chars of double before 20
  text.imbue(std::locale::classic());
  check_input(text >> std::noskipws >> value && text.peek() == EOF, "{}: {} is not a number: {}",
              path, key, found->second);
  return value;
}

std::vector<NamedParameter> state_of(const Optimizer& optimizer) {
  return optimizer.layout().state.tensors();
}

void load_state(Optimizer& optimizer, int64_t steps, std::span<const NamedParameter> saved) {
  check_input(steps >= 0, "optimizer state: {} steps", steps);
  optimizer.layout().state.load(saved, "optimizer state");
  optimizer.set_steps(steps);
}

void save(const Optimizer& optimizer, const std::string& path) {
  write_tensors(
      path, state_of(optimizer),
      {{"steps", std::to_string(optimizer.steps())}, {"lr", fmt::format("{}", optimizer.lr())}});
}

void load(Optimizer& optimizer, const std::string& path) {
  Metadata metadata;
  std::vector<NamedParameter> state;
  for (auto& [name, tensor] : read_tensors(path, &metadata)) state.push_back({name, tensor});
  const auto steps = number<int64_t>(path, metadata, "steps");
  const auto lr = number<double>(path, metadata, "lr");
  try {
    check_input(steps >= 0 && lr >= 0 && std::isfinite(lr), "steps {} and lr {} are not a state",
                steps, lr);
    load_state(optimizer, steps, state);
    optimizer.set_lr(lr);
  } catch (const Error& error) {
    throw InputError(path + ": " + error.what());
  }
}

}  // namespace heed::inline HEED_REAL
