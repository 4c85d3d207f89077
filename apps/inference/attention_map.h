// What was recorded of attention (nn/recorder.h), with a label for everything that looks and
// everything that is looked at.
#pragma once

#include <string>
#include <vector>

#include "data/text_codec.h"
#include "nn/recorder.h"

namespace heed {

// In the order in which they are shown.
enum class AttentionPart { encoder, decoder, cross, pool };

// The attention of one module over one example.
struct AttentionMap {
  std::string name;  // of the module
  AttentionPart part;
  Tensor weights;                          // (lines, H, n, m)
  std::vector<std::string> queries, keys;  // labels of places
  // Along some axes of a grid there are as many lines as there are along these; else there is one,
  // and it holds every place. Row i of line l is place query_positions[l · n + i]; columns
  // likewise.
  std::vector<int64_t> query_positions, key_positions;

  int64_t heads() const { return weights.dim(1); }
};

// Labels of what a model reads and writes, place by place. `target` is empty but for a decoder.
struct PositionLabels {
  std::vector<std::string> source, target;
};

// Of records of one example. Throws Error for labels that are not as many as the places.
std::vector<AttentionMap> attention_maps(const std::vector<AttentionRecord>& records,
                                         const PositionLabels& labels);

// Σ lines · H · n · m
int64_t weights_in(const std::vector<AttentionMap>& maps);

// Rows name,head,query,key,query_token,key_token,weight; queries and keys are places, from 0.
std::string attention_csv(const std::vector<AttentionMap>& maps);

// A token that can be seen: a space as ␣, a new line as ↵, a byte as the character it is.
std::string token_label(const TextCodec& codec, int32_t id);
// "0", "1", … or, on a grid, row-major coordinates: "0,0", "0,1", …
std::vector<std::string> position_labels(int64_t places, const std::vector<int64_t>& grid);

}  // namespace heed
