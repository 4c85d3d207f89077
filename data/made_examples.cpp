#include "data/made_examples.h"

#include <utility>

#include "core/check.h"
#include "data/framing.h"

namespace heed {

Dataset made_examples(const Corpus& corpus, std::vector<SequencePair> contents) {
  check(corpus.target != nullptr, "made_examples: the corpus has no tokens");
  return {std::ssize(contents), [layout = Layout(corpus.framing, corpus.target->vocabulary()),
                                 contents = std::move(contents)](int64_t i, Example& example) {
            const SequencePair& pair = contents[static_cast<size_t>(i)];
            layout.lay_out(pair.source, pair.target, example);
          }};
}

Batch made_batch(const Corpus& corpus, std::vector<SequencePair> contents) {
  const Dataset examples = made_examples(corpus, std::move(contents));
  Batch batch;
  Batches::in_order(examples, corpus.framing, examples.size).get(0, batch);
  return batch;
}

}  // namespace heed
