// vocabulary.json: the vocabularies and labels of a run's model, so that it works without its data.
//
//   {"level": "character", "symbols": ["a", "b", …, "<eos>"]}          one vocabulary
//   {"source": {"level": …, "symbols": …}, "target": {…}}              two (pairs)
//   {"level": …, "symbols": …, "labels": ["ham", "spam"]}              a classifier
//   {"features": 9, "numbers": true}                                   from vectors to numbers
//   {"level": "subword", "symbols": …, "sentencepiece": "<base64>"}    with the tokenizer's model
//   {"level": …, "symbols": …, "prompt": 6, "answer": 6}               a task without <eos>
//
// "symbols" are the tokens, and "answer" is the number of target tokens. The names are those of the
// first version.
#pragma once

#include <string>

#include "apps/support/json.h"
#include "data/corpus.h"

namespace heed {

std::string vocabulary_text(const Corpus& corpus);

// Returns the members of vocabulary.json that affect inputs and outputs of the model.
// codec_digest() and labels_digest() replace tokens and labels. White space and members that later
// versions add do not change the result.
Json vocabulary_identity(const Corpus& corpus);
// Returns the SHA-256 of the level, the tokens in the order of their ids, and the tokenizer.
std::string codec_digest(const TextCodec& codec);
std::string labels_digest(const std::vector<std::string>& labels);

// Reads the tokens of a vocabulary.json of any kind of model: none of one that reads vectors and
// predicts numbers or labels. Throws InputError, with the path and
// the mistake, for a file that is not valid or has no tokens.
ExistingVocabulary read_codecs(const std::string& path);

// Returns the vocabularies, labels and formats of a file, without splits. Throws InputError, with
// the path and the mistake, for a file that is not valid.
Corpus read_vocabulary(const std::string& path, ModelKind framing);

}  // namespace heed
