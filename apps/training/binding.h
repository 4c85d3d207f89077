// Binds weights to the run that trained them, by the vocabulary and the settings that affect
// outputs of the model. state.json of a checkpoint holds
//
//   "settings": {"precision": "highest", "model.dim": 64, …}             keys of the config
//   "vocabulary": {"source": "<SHA-256>", "target": …, "prompt": 6, …}   vocabulary_identity()
//
// and the metadata of model.safetensors
//
//   "heed": "0.3.0"                                            the version that wrote it
//   "model_sha256": "<SHA-256>"                                of the settings in [model]
//   "vocabulary_sha256.embedding.token.weight": "<SHA-256>"    of the tokens (or labels) that the
//                                                              rows of an array stand for
//
// So a file of weights can be checked without its run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/config/config.h"
#include "apps/config/experiment.h"
#include "apps/support/json.h"
#include "apps/training/checkpoint.h"
#include "core/tensor.h"

namespace heed {

struct Binding {
  Json settings, vocabulary;  // members of state.json
  Metadata metadata;          // of model.safetensors
};
Binding binding_of(const Experiment& experiment, const Corpus& corpus,
                   const std::vector<NamedParameter>& parameters);

// Throws InputError that names the first key whose value differs from the training config. Keys
// missing from the checkpoint are not compared.
void check_settings(const Checkpoint& checkpoint, const Experiment& experiment);

// Throws InputError that names the first difference between a file vocabulary.json and the
// vocabulary of the checkpoint. Does nothing if there is no file.
void check_vocabulary_file(const Checkpoint& checkpoint, const std::string& path,
                           ModelKind framing);
// Throws InputError if the data of a run or their vocabulary have changed since its training.
void check_data(const Checkpoint& checkpoint, const Corpus& corpus, const std::string& run,
                const Origins& origins = {});

// What the rows of a parameter stand for.
struct RowVocabulary {
  std::string kind;  // "labels", or the level of the tokens
  std::vector<std::string> tokens;
  std::string digest;  // SHA-256

  bool operator==(const RowVocabulary&) const = default;
};
using RowVocabularies = std::map<std::string, RowVocabulary>;  // by the name of the parameter
RowVocabularies row_vocabularies(const Corpus& corpus);
// Returns the key of an array in the metadata of model.safetensors.
std::string vocabulary_key(const std::string& parameter);

}  // namespace heed
