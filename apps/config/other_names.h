// The names that other programs have for the keys of a config, for suggestions.
#pragma once

#include <string>
#include <string_view>

namespace heed {

// Returns the key that has this name in PyTorch, nanoGPT, JoeyNMT or Hugging Face's Transformers;
// "" if there is none. The name is without its section.
std::string key_of_other_name(std::string_view name);

}  // namespace heed
