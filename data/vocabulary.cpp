// Defines data/vocabulary.h.
#include "data/vocabulary.h"

#include <limits>
#include <utility>

#include "core/check.h"

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
                "vocabulary: the token {:?} is repeated",
                std::string_view(tokens_[i]).substr(0, 60));
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

}  // namespace heed
