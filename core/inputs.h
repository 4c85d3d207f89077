// The inputs of a model. Data makes them, and models of three kinds read them.
#pragma once

#include "core/ids.h"
#include "core/tensor.h"

namespace heed::inline HEED_REAL {

// What a model is: an encoder-decoder, decoder-only, or an encoder with a head for classes.
enum class ModelKind { seq2seq, language_model, classifier };

// A directed graph: edge e goes from sender[e] to receiver[e], positions b · T + t of all examples.
struct Edges {
  Ids sender = {}, receiver = {};  // (E), or none
  Tensor features = {};            // (E, F), or no tensor

  explicit operator bool() const { return static_cast<bool>(sender); }
};

// A batch for a model. Padding is a length: input_lengths[b] of the T positions of row b are real.
struct Inputs {
  Ids source = {}, source_lengths = {};                // (B, Ts), (B): of seq2seq
  Ids input = {}, input_lengths = {}, positions = {};  // (B, T), (B), (B, T) or 0 to T - 1
  // (B, T, F), instead of source or a classifier's input. With two sources in addition to source:
  // then a seq2seq's source_lengths count the T positions of features, which all are real, too.
  Tensor features = {};
  Edges edges = {};    // between the positions of a graph
  Tensor global = {};  // (B, U): a vector of each graph, or no tensor
};

}  // namespace heed::inline HEED_REAL
