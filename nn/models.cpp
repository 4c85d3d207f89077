#include "nn/models.h"

#include "nn/two_sources.h"

namespace heed::inline HEED_REAL {

std::unique_ptr<Model> make_model(const ModelOptions& options, const ModelSizes& sizes) {
  options.validate();
  if (sizes.two_sources)
    validate_attention(options.attention.across(options.encoder_dim), options.dim, options.heads);
  switch (options.kind) {
    case ModelKind::seq2seq:
      check(!options.share_embeddings || sizes.source_vocabulary == sizes.vocabulary,
            "model: one embedding for source and target needs vocabularies of one size, not {} and "
            "{} tokens",
            sizes.source_vocabulary, sizes.vocabulary);
      if (sizes.two_sources) return std::make_unique<TwoSources>(options, sizes);
      return std::make_unique<Seq2Seq>(options, sizes);
    case ModelKind::language_model:
      if (!has_own_head(sizes)) return std::make_unique<LanguageModel>(options, sizes);
      [[fallthrough]];
    case ModelKind::classifier:
      return std::make_unique<Classifier>(options, sizes);
  }
  throw Error("model: unknown kind");
}

}  // namespace heed::inline HEED_REAL
