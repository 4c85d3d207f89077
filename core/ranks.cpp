#include "core/ranks.h"

namespace heed::inline HEED_REAL {

std::string from_first_rank(std::string text) {
  Ranks* const ranks = scope().ranks;
  if (!ranks) return text;
  uint64_t size = text.size();
  ranks->broadcast(std::as_writable_bytes(std::span(&size, 1)));
  text.resize(size);
  ranks->broadcast(std::as_writable_bytes(std::span(text)));
  return text;
}

bool on_any_rank(bool holds) {
  const std::vector<char> all = from_all_ranks<char>(holds);
  return std::count(all.begin(), all.end(), 1) > 0;
}

}  // namespace heed::inline HEED_REAL
