#include "data/vocabulary.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/check.h"
#include "core/text.h"

namespace heed {

bool is_special(std::string_view token) {
  return token == begin_token || token == end_token || token == separator_token ||
         token == unknown_token;
}

Vocabulary::Vocabulary(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {
  check_input(!tokens_.empty(), "vocabulary: there are no tokens");
  check_input(tokens_.size() <= static_cast<size_t>(std::numeric_limits<int32_t>::max()),
              "vocabulary: {} tokens are too many", tokens_.size());
  ids_.reserve(tokens_.size());
  for (size_t i = 0; i < tokens_.size(); ++i)
    check_input(ids_.emplace(tokens_[i], static_cast<int32_t>(i)).second,
                "vocabulary: the token {} is repeated", in_quotes(tokens_[i]));
  begin_ = find(begin_token);
  end_ = find(end_token);
  separator_ = find(separator_token);
  unknown_ = find(unknown_token);
}

int32_t Vocabulary::find(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? none : found->second;
}

const std::string& Vocabulary::token(int32_t id) const {
  check(id >= 0 && id < size(), "vocabulary: no token has the id {}, there are {}", id, size());
  return tokens_[static_cast<size_t>(id)];
}

void TokenCounts::add(std::string_view token) {
  const auto found = counts_.find(token);
  if (found != counts_.end())
    ++found->second;
  else
    counts_.emplace(token, 1);
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
