#include "nn/forms/parts.h"

#include "core/fields.h"
#include "nn/forms/attention.h"

namespace heed::inline HEED_REAL {

FormOptions::FormOptions(const BlockOptions& block, const Forms& forms,
                         const std::vector<int64_t>& grid_, int64_t edge_features_)
    : BlockOptions(block), Forms(forms) {
  if (!block.causal) {
    grid = grid_;
    edge_features = edge_features_;
    return;
  }
  attention.causal = true;
  if (!mixing.kind->is_attention) return;
  attention.axes.clear();
  attention.graph_distances = 0;
}

void FormOptions::validate_layer() const {
  check_fields(*this, "block");
  const PositionalRule& position = *positional.kind;
  const SimilarityRule& similarity = *attention.similarity.kind;
  const char* const name = mixing.kind->name;
  positional.validate(dim);
  check_input(!position.acts_in_attention() || mixing.kind->is_attention,
              "`positional.kind` = \"{}\" acts inside attention, and `mixing` = \"{}\" has none",
              position.name, name);
  check_input(
      !position.rotate || similarity.is_product,
      "`positional.kind` = \"{}\" makes products of queries and keys depend on their distance, and "
      "`attention.similarity` = \"{}\" is not such a product: use one of {}, or other positions",
      position.name, similarity.name, names_where(similarities::all, &SimilarityRule::is_product));
  check_input(!attention.causal || mixing.kind->can_be_causal,
              "`mixing` = \"{}\" reads later positions, which a decoder must not, nor a "
              "layer with `attention.causal` = true; it needs `kind` = \"classifier\"",
              name);
  if (mixing.kind->validate) mixing.kind->validate(*this);
  if (position.rotate)
    for (const int64_t width : attention.widths(dim, heads).key)
      check_input(width % 2 == 0,
                  "`positional.kind` = \"{}\" rotates pairs of columns: a head of width {} is odd; "
                  "set `attention.key_dim`",
                  position.name, width);
  if (mixing.kind->is_attention) return;
  check_input(attention.window == 0,
              "`attention.window` = {} applies to attention, and `mixing` = \"{}\" has none",
              attention.window, name);
  check_input(attention.axes.empty(),
              "`attention.axes` applies to attention, and `mixing` = \"{}\" has none", name);
  check_input(attention.graph_distances == 0,
              "`attention.graph_distances` = {} biases the scores of attention, and `mixing` "
              "= \"{}\" has none",
              attention.graph_distances, name);
}

std::unique_ptr<Mixing> FormParts::mixing(const BlockOptions& o,
                                          const LinearOptions& linear) const {
  const FormOptions form(o, forms_, grid_, edge_features_);
  form.validate_layer();
  return form.mixing.kind->make(form, linear);
}

std::unique_ptr<Attention> FormParts::cross_attention(const BlockOptions& o,
                                                      const LinearOptions& linear) const {
  return make_attention(o.dim, o.heads,
                        {.context_dim = o.memory_dim,
                         .dropout = o.attention_dropout,
                         .linear = linear,
                         .form = forms_.attention.without_positions()});
}

std::unique_ptr<Positions> FormParts::positions(int64_t dim, double std,
                                                std::span<const int64_t> grid) const {
  return make_positions(dim, forms_.positional, std, grid);
}

int64_t FormParts::token_width(int64_t dim) const {
  return heed::token_width(dim, forms_.positional);
}

}  // namespace heed::inline HEED_REAL
