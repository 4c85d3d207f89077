// A dataset gives examples by index. An example is up to three lists of tokens, or of vectors.
//
// From a rule to a batch:
//
//   SequenceTask      a rule, such as reverse: source 7 0 49, target 49 0 7    sequence_task.h
//        │ generated()    the hash of a source selects its split               generated.h
//   Dataset           example i, laid out for a model by a Layout              framing.h
//        │ Batches        shuffled or in order                                 batch.h
//   Batch             a few examples side by side, padded to the longest
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/inputs.h"

namespace heed {

struct Batch;

// Lists of tokens, from which a batch is made. Their form depends on the model: data/framing.h.
struct Example {
  std::vector<int32_t> source = {};  // seq2seq: what the encoder reads
  std::vector<int32_t> input = {};   // what the decoder, language model or classifier reads
  std::vector<int32_t> target = {};  // the next token at each input, or `ignored`; or one label
  int32_t prompt = 0;                // language model of a task: number of inputs in the prompt

  // Vectors in place of the source, or of a classifier's input: data/features.h.
  int64_t positions = 0;                               // T, by which bucketing sorts
  std::vector<float> features = {};                    // (T, F)
  std::vector<int32_t> sender = {};                    // (E): edge e leads from sender[e]
  std::vector<int32_t> receiver = {};                  // (E): to receiver[e]
  std::vector<float> edge_features = {}, global = {};  // (E, …), and (U): of the whole graph

  // Of data.kind = "examples", where the example has them.
  int32_t group = -1;                      // index of Corpus::groups; -1: in none
  std::vector<float> values = {};          // regression: the target of each position; NaN: none
  std::vector<float> reference = {};       // see Corpus::reference_width
  std::vector<int32_t> position_ids = {};  // the position of each input, if not 0, 1, …
};

using Examples = std::span<const Example* const>;  // some examples of a dataset

// Writes the tokens of examples, padded with id 0, their lengths, and the targets.
void collate_tokens(Examples examples, ModelKind framing, Batch& batch);

// Examples that are computed or read when they are needed.
struct Dataset {
  int64_t size = 0;  // number of examples
  // Writes example i, 0 ≤ i < size, into `example`, whose vectors keep their capacity. The same i
  // always gives the same example. Not thread-safe.
  std::function<void(int64_t i, Example& example)> get = nullptr;
  // Writes what a model reads of these examples.
  std::function<void(Examples examples, ModelKind framing, Batch& batch)> collate = collate_tokens;
  // Of a stream: training takes its examples in order, 0, 1, …, and so many of the first are at
  // hand. The others come from a program, which another order would start again. 0: no stream.
  int64_t at_hand = 0;
  // Changes the example that shuffled training reads as its i-th, counted over all epochs; null: as
  // they are. Gives the same for the same i and example.
  std::function<void(int64_t i, Example& example)> augment = nullptr;
};

}  // namespace heed
