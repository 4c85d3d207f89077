#include "data/vocabulary.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/check.h"
#include "data/utf8.h"

namespace heed {

bool is_special(std::string_view symbol) {
  return symbol == begin_symbol || symbol == end_symbol || symbol == separator_symbol ||
         symbol == unknown_symbol;
}

Vocabulary::Vocabulary(std::vector<std::string> symbols) : symbols_(std::move(symbols)) {
  check_input(!symbols_.empty(), "vocabulary: there are no symbols");
  check_input(symbols_.size() <= static_cast<size_t>(std::numeric_limits<int32_t>::max()),
              "vocabulary: {} symbols are too many", symbols_.size());
  ids_.reserve(symbols_.size());
  for (size_t i = 0; i < symbols_.size(); ++i)
    check_input(ids_.emplace(symbols_[i], static_cast<int32_t>(i)).second,
                "vocabulary: the symbol {} comes twice", in_quotes(symbols_[i]));
  begin_ = find(begin_symbol);
  end_ = find(end_symbol);
  separator_ = find(separator_symbol);
  unknown_ = find(unknown_symbol);
}

int32_t Vocabulary::find(std::string_view symbol) const {
  const auto found = ids_.find(symbol);
  return found == ids_.end() ? none : found->second;
}

const std::string& Vocabulary::symbol(int32_t id) const {
  check(id >= 0 && id < size(), "vocabulary: no symbol has the id {}, there are {}", id, size());
  return symbols_[static_cast<size_t>(id)];
}

void SymbolCounts::add(std::string_view symbol) {
  const auto found = counts_.find(symbol);
  if (found != counts_.end())
    ++found->second;
  else
    counts_.emplace(symbol, 1);
}

std::vector<std::string> SymbolCounts::chosen(int64_t least, int64_t most) const {
  std::vector<std::pair<int64_t, std::string>> frequent;  // (minus the count, symbol)
  for (const auto& [symbol, count] : counts_)
    if (count >= least && !is_special(symbol)) frequent.emplace_back(-count, symbol);
  if (most > 0 && static_cast<size_t>(most) < frequent.size()) {
    std::sort(frequent.begin(), frequent.end());
    frequent.resize(static_cast<size_t>(most));
  }
  std::vector<std::string> symbols;
  for (auto& [count, symbol] : frequent) symbols.push_back(std::move(symbol));
  std::sort(symbols.begin(), symbols.end());
  return symbols;
}

}  // namespace heed
