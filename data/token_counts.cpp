#include "data/token_counts.h"

#include <algorithm>
#include <utility>

#include "core/text.h"

namespace heed {

void TokenCounts::add(std::string_view token, int64_t count) {
  const auto found = counts_.find(token);
  if (found != counts_.end())
    found->second += count;
  else
    counts_.emplace(token, count);
}

TokenCounts TokenCounts::without(const Vocabulary& vocabulary) const {
  TokenCounts rest;
  for (const auto& [token, count] : counts_)
    if (!is_special(token) && vocabulary.find(token) == Vocabulary::none)
      rest.counts_.emplace(token, count);
  return rest;
}

int64_t TokenCounts::total() const {
  int64_t total = 0;
  for (const auto& [token, count] : counts_) total += count;
  return total;
}

std::string TokenCounts::examples(int64_t count) const {
  std::string text;
  for (const std::string& token : chosen(1, count))
    text += (text.empty() ? "" : ", ") + in_quotes(token);
  return size() > count ? text + ", …" : text;
}

std::vector<std::string> TokenCounts::chosen(int64_t min_count, int64_t max_size) const {
  std::vector<std::pair<int64_t, std::string>> frequent;  // (minus the count, token)
  for (const auto& [token, count] : counts_)
    if (count >= min_count && !is_special(token)) frequent.emplace_back(-count, token);
  if (max_size > 0 && static_cast<size_t>(max_size) < frequent.size()) {
    std::sort(frequent.begin(), frequent.end());
    frequent.resize(static_cast<size_t>(max_size));
  }
  std::vector<std::string> tokens;
  for (auto& [count, token] : frequent) tokens.push_back(std::move(token));
  std::sort(tokens.begin(), tokens.end());
  return tokens;
}

}  // namespace heed
