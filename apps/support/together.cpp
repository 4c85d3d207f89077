#include "apps/support/together.h"

namespace heed {

std::vector<std::string> concatenated(const std::vector<std::string>& own) {
  if (!Ranks::current) return own;
  std::vector<size_t> sizes;
  std::vector<char> characters;
  for (const std::string& text : own) {
    sizes.push_back(text.size());
    characters.insert(characters.end(), text.begin(), text.end());
  }
  characters = concatenated(std::move(characters));
  std::vector<std::string> all;
  auto begin = characters.cbegin();
  for (const size_t size : concatenated(std::move(sizes))) {
    const auto end = begin + static_cast<ptrdiff_t>(size);
    all.emplace_back(begin, end);
    begin = end;
  }
  return all;
}

std::string from_first_rank(std::string text) {
  Ranks* const ranks = Ranks::current;
  if (!ranks) return text;
  uint64_t size = text.size();
  ranks->broadcast(std::as_writable_bytes(std::span(&size, 1)));
  text.resize(size);
  ranks->broadcast(std::as_writable_bytes(std::span(text)));
  return text;
}

void copy_from_first_rank(std::span<real> values) {
  if (Ranks::current) Ranks::current->broadcast(std::as_writable_bytes(values));
}

bool on_any_rank(bool holds) {
  if (!Ranks::current) return holds;
  const std::vector<char> all = from_all_ranks<char>(holds);
  return std::count(all.begin(), all.end(), 1) > 0;
}

}  // namespace heed
