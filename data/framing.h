// Lays out a pair of sequences x, y for a model: what it reads, and the target at each position.
//
//   seq2seq          source x…    s = <bos> y… <eos>
//   language_model                s = <bos> x… <sep> y… <eos>, with those special tokens that the
//                                 vocabulary has
//                    input s without its last token, target s without its first; targets that are
//                    part of the prompt <bos> x… <sep> are ignored (core/standard_ops.h)
//   classifier       input x…     target the one label y
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/vocabulary.h"

namespace heed {

struct Layout {
  ModelKind framing;
  int32_t begin, end, separator;  // ids, or Vocabulary::none

  Layout(ModelKind framing, const Vocabulary& vocabulary);
  void lay_out(std::span<const int32_t> x, std::span<const int32_t> y, Example& example) const;
};

// The tokens of a task and the special tokens that its layout needs. A language model needs none if
// all prompts have one length.
Vocabulary task_vocabulary(std::vector<std::string> tokens, ModelKind framing, bool one_length);

}  // namespace heed
