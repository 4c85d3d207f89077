#include "data/framing.h"

#include <algorithm>

namespace heed {

Layout::Layout(Framing framing_, const Vocabulary& vocabulary)
    : framing(framing_),
      begin(vocabulary.begin()),
      end(vocabulary.end()),
      separator(vocabulary.separator()) {}

// Writes <bos> x… <sep> y… <eos> without its last token.
static void write_input(std::span<const int32_t> x, std::span<const int32_t> y,
                        const Layout& layout, std::vector<int32_t>& input) {
  input.clear();
  if (layout.begin != Vocabulary::none) input.push_back(layout.begin);
  input.insert(input.end(), x.begin(), x.end());
  if (layout.separator != Vocabulary::none) input.push_back(layout.separator);
  input.insert(input.end(), y.begin(), y.end());
  if (layout.end == Vocabulary::none && !input.empty()) input.pop_back();
}

void Layout::lay_out(std::span<const int32_t> x, std::span<const int32_t> y,
                     Example& example) const {
  example.source.clear();
  example.prompt = 0;
  if (framing == Framing::classifier) {
    example.input.assign(x.begin(), x.end());
    example.target.assign(y.begin(), y.end());
    return;
  }
  if (framing == Framing::seq2seq) {
    example.source.assign(x.begin(), x.end());
    x = {};
  }
  write_input(x, y, *this, example.input);
  // The target is the token after each input: y at the end, -1 before, within the prompt.
  const size_t learned = y.size() + (end != Vocabulary::none);
  example.target.assign(example.input.size() - std::min(learned, example.input.size()), -1);
  example.target.insert(example.target.end(), y.begin(), y.end());
  if (end != Vocabulary::none) example.target.push_back(end);
  if (!x.empty()) example.prompt = static_cast<int32_t>(example.input.size() - learned + 1);
}

}  // namespace heed
