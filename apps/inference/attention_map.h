// The recorded attention weights of a model (nn/recorder.h), with labels for queries and keys.
#pragma once

#include <string>
#include <vector>

#include "data/text_codec.h"
#include "nn/models.h"
#include "nn/recorder.h"

namespace heed {

enum class AttentionPart { encoder, decoder, cross, pool };

// The attention of one module on one example.
struct AttentionMap {
  std::string name;  // of the module
  AttentionPart part;
  Tensor weights;                          // (lines, H, n, m)
  std::vector<std::string> queries, keys;  // a label for each position
  // Attention along some axes of a grid has one line for each choice of the other axes. Other
  // attention has one line with all positions. Row i of line l is position
  // query_positions[l · n + i]; columns are the same with key_positions.
  std::vector<int64_t> query_positions, key_positions;

  int64_t heads() const { return weights.dim(1); }
};

// Calls f(head, query, key, weight) for each weight, in the order of the tensor; `query` and `key`
// are positions.
template <class F>
void for_each_weight(const AttentionMap& map, F f) {
  const int64_t lines = map.weights.dim(0), n = map.weights.dim(2), m = map.weights.dim(3);
  const real* weight = map.weights.data();
  for (int64_t line = 0; line < lines; ++line)
    for (int64_t head = 0; head < map.heads(); ++head)
      for (int64_t i = line * n; i < (line + 1) * n; ++i)
        for (int64_t j = line * m; j < (line + 1) * m; ++j)
          f(static_cast<size_t>(head),
            static_cast<size_t>(map.query_positions[static_cast<size_t>(i)]),
            static_cast<size_t>(map.key_positions[static_cast<size_t>(j)]), *weight++);
}

// Runs the model once, without dropout, and returns the attention weights of its layers.
std::vector<AttentionRecord> record_attention(const Model& model, const Inputs& inputs);

// A label for each position that a model reads. `target` is empty unless the model has a decoder.
struct PositionLabels {
  std::vector<std::string> source, target;
  std::vector<std::string> features = {};  // of two sources of a decoder: those of the vectors
};

// Combines the records of one example with labels. Throws Error if the number of labels is not the
// number of positions.
std::vector<AttentionMap> attention_maps(const std::vector<AttentionRecord>& records,
                                         const PositionLabels& labels);

// Σ lines · H · n · m
int64_t weights_in(const std::vector<AttentionMap>& maps);

// The maximum of the absolute values.
double largest_weight(const AttentionMap& map);
// A byte for each of (heads, rows, columns), for pictures: 255 · √(|weight| / scale). Attention
// along axes of a grid is 0 elsewhere.
std::string attention_bytes(const AttentionMap& map, double scale);

// Rows name,head,query,key,query_token,key_token,weight, where query and key are positions, from 0.
std::string attention_csv(const std::vector<AttentionMap>& maps);

// Returns a visible form of a token: a space is ␣, a new line ↵, a byte the character it encodes,
// a no-break space \u00a0.
std::string token_label(const TextCodec& codec, int32_t id);
// Returns "0", "1", … or, on a grid, row-major coordinates "0,0", "0,1", …
std::vector<std::string> position_labels(int64_t positions, const std::vector<int64_t>& grid);

}  // namespace heed
