// A trained model as an ONNX graph, which other programs run: ONNX Runtime in Python, C++, C# or a
// browser.
//
//   language_model   input (batch, length)                             logits (batch, length,
//   vocab) seq2seq          source (batch, source_length), source_lengths (batch),
//                    input (batch, length)                             logits (batch, length,
//                    vocab)
//   classifier       input (batch, length), input_lengths (batch)      logits (batch, classes)
//
// Without a pool the logits of a classifier are (batch, length, classes). Where the model predicts
// numbers the output has the name `numbers` and a last axis of 1.
//
// Tokens and lengths are int64, logits float32. Positions past the length of a row are padding: any
// token, which nothing attends to. Where the model reads features instead of tokens, `source` or
// `input` is float32 (batch, length, F). A grid has no padding, so no input_lengths.
// The weights have the names and shapes of model.safetensors; a tied weight is stored once.
#pragma once

#include "lab/onnx/graph.h"
#include "nn/models.h"

namespace heed::onnx {

// Throws InputError, naming the key of the config, for a form of model that has no export: anything
// but attention with dot products, a softmax and heads of one width. A temperature that changes
// during training is that of scope().step.
Graph graph_of(const ModelOptions& options, const ModelSizes& sizes,
               const std::vector<NamedParameter>& parameters);

}  // namespace heed::onnx
