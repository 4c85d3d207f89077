// Defines data/framing.h: the layout of a pair, and the vocabulary that it needs.
#include "data/framing.h"

#include <utility>

#include "core/standard_ops.h"

namespace heed {

Layout::Layout(ModelKind framing_, const Vocabulary& vocabulary)
    : framing(framing_),
      begin(vocabulary.begin()),
      end(vocabulary.end()),
      separator(vocabulary.separator()) {}

void Layout::lay_out(std::span<const int32_t> x, std::span<const int32_t> y,
                     Example& example) const {
  example.source.clear();
  example.prompt = 0;
  if (framing == ModelKind::classifier) {
    example.input.assign(x.begin(), x.end());
    example.target.assign(y.begin(), y.end());
    return;
  }
  if (framing == ModelKind::seq2seq) {
    example.source.assign(x.begin(), x.end());
    x = {};
  }
  std::vector<int32_t>& s = example.input;
  s.clear();
  if (begin != Vocabulary::none) s.push_back(begin);
  s.insert(s.end(), x.begin(), x.end());
  if (separator != Vocabulary::none) s.push_back(separator);
  const size_t prompt = s.size();
  s.insert(s.end(), y.begin(), y.end());
  if (end != Vocabulary::none) s.push_back(end);

  if (s.empty()) return example.target.clear();
  example.target.assign(s.begin() + 1, s.end());
  s.pop_back();
  for (size_t t = 0; t + 1 < prompt; ++t) example.target[t] = ignored;
  if (!x.empty()) example.prompt = static_cast<int32_t>(prompt);
}

Vocabulary task_vocabulary(std::vector<std::string> tokens, ModelKind framing, bool one_length) {
  const bool has_separator = framing == ModelKind::language_model && !one_length;
  if (framing == ModelKind::seq2seq) tokens.push_back(begin_token);
  if (has_separator) tokens.push_back(separator_token);
  if (has_separator || framing == ModelKind::seq2seq) tokens.push_back(end_token);
  return Vocabulary(std::move(tokens));
}

}  // namespace heed
