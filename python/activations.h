// What a trained model computes, as arrays of numpy.
#pragma once

#include <cstdint>
#include <optional>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <string>
#include <vector>

#include "apps/run/run.h"

namespace heed {

// Each returns a dictionary of float32 arrays that own their memory: "logits", (B, T, vocabulary),
// or (B, classes) of a classifier, and, with `cache`, what every site of a tap (nn/tap.h) shows, by
// the name of its layer and its own: "decoder.layers.1.attention.weights". Inputs of different
// lengths are padded at their end.
//
// Texts as `heed attend` reads them: --text, and --target, or what the model generates.
pybind11::dict forward_texts(const Run& run, const std::vector<std::string>& texts,
                             const std::optional<std::vector<std::string>>& targets, bool cache);
// Ids of tokens. `targets` are those of an encoder-decoder, after its first token.
pybind11::dict forward_tokens(const Run& run, const std::vector<std::vector<int32_t>>& tokens,
                              const std::optional<std::vector<std::vector<int32_t>>>& targets,
                              bool cache);
// Examples of a split of the run's data, by their indices from 0; "": test, else val.
pybind11::dict forward_examples(const Run& run, const std::vector<int64_t>& examples,
                                const std::string& split, bool cache);

}  // namespace heed
