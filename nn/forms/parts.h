// Other forms of a model's parts than the Transformer's: the sections [model.attention],
// [model.positional] and [model.block] of a config.
#pragma once

#include <memory>
#include <vector>

#include "nn/attention_options.h"
#include "nn/block.h"
#include "nn/forms/mixings.h"
#include "nn/positional.h"

namespace heed::inline HEED_REAL {

// The forms that a config can choose.
struct Forms {
  MixingOptions mixing = {};
  MultiHeadOptions attention = {};  // its `causal`: no position reads a later one
  PositionalOptions positional = {};

  void fields(Fields& f);  // a section of each
};

// The options of one stack of layers, with their forms.
struct FormOptions : BlockOptions, Forms {
  // ---- properties of the data
  std::vector<int64_t> grid = {};  // lengths of its axes, if the positions form one
  int64_t edge_features = 0;       // of a graph

  // Those of a stack whose data have these properties. A causal stack, a decoder, reads a sequence
  // of tokens.
  FormOptions(const BlockOptions& block, const Forms& forms, const std::vector<int64_t>& grid = {},
              int64_t edge_features = 0);
  void fields(Fields& f);  // visits those of the block and of the forms
  // Throws InputError for values out of range and, naming the key, for options that contradict each
  // other.
  void validate_layer() const;
};

// Makes the parts of a model in these forms.
class FormParts : public Parts {
 public:
  explicit FormParts(Forms forms, std::vector<int64_t> grid = {}, int64_t edge_features = 0)
      : forms_(std::move(forms)), grid_(std::move(grid)), edge_features_(edge_features) {}

  const char* mixing_name() const override { return forms_.mixing.kind->name; }
  // Throws InputError as FormOptions::validate_layer() does.
  std::unique_ptr<Mixing> mixing(const BlockOptions& o, const LinearOptions& linear) const override;
  std::unique_ptr<Attention> cross_attention(const BlockOptions& o,
                                             const LinearOptions& linear) const override;
  std::unique_ptr<Positions> positions(int64_t dim, double std,
                                       std::span<const int64_t> grid) const override;
  int64_t token_width(int64_t dim) const override;
  bool scales_tokens() const override { return forms_.positional.kind->scales_embedding; }

 private:
  Forms forms_;
  std::vector<int64_t> grid_;
  int64_t edge_features_;
};

}  // namespace heed::inline HEED_REAL
