#include "apps/inference/attention_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "apps/support/table.h"
#include "core/check.h"
#include "core/inference_scope.h"
#include "core/joined.h"
#include "core/text.h"
#include "data/tasks/sequence_task.h"
#include "nn/forms/grid.h"

namespace heed {
namespace {

AttentionPart part_of(const std::string& name) {
  if (name.starts_with("pool") || name.ends_with("induced.attention")) return AttentionPart::pool;
  if (name.ends_with("cross_attention")) return AttentionPart::cross;
  return name.starts_with("decoder") ? AttentionPart::decoder : AttentionPart::encoder;
}

// Returns the positions in the order of the lines along some axes of a grid.
std::vector<int64_t> positions_of_lines(const AttentionRecord& record) {
  const int64_t count = Shape(record.grid).size();
  Tensor indices = Tensor::empty({1, count, 1});
  std::iota(indices.mutable_data(), indices.mutable_data() + count, real{0});
  const Tensor lines = unfold(indices, record.grid, record.axes);
  return {lines.values().begin(), lines.values().end()};
}

std::vector<int64_t> in_order(size_t count) {
  std::vector<int64_t> positions(count);
  std::iota(positions.begin(), positions.end(), int64_t{0});
  return positions;
}

AttentionMap map_of(const AttentionRecord& record, const PositionLabels& labels) {
  AttentionMap map{record.name, part_of(record.name), record.weights, {}, {}, {}, {}};
  const bool is_decoder = map.part == AttentionPart::decoder || map.part == AttentionPart::cross;
  const bool of_features = record.name.starts_with("features_");
  map.queries = map.part == AttentionPart::pool ? numbered(record.weights.dim(2), "query ")
                : is_decoder                    ? labels.target
                : of_features                   ? labels.features
                                                : labels.source;
  map.keys = map.part == AttentionPart::decoder ? labels.target
             : of_features                      ? labels.features
                                                : labels.source;
  if (map.part == AttentionPart::pool && !labels.target.empty()) map.keys = labels.target;
  if (map.part == AttentionPart::cross)  // to both sources
    map.keys.insert(map.keys.begin(), labels.features.begin(), labels.features.end());
  if (record.name.ends_with("induced_attention.attention"))  // to the learned queries
    map.keys = numbered(record.weights.dim(3), "query ");
  const bool has_lines = !record.grid.empty();
  map.query_positions = has_lines ? positions_of_lines(record) : in_order(map.queries.size());
  map.key_positions = has_lines ? map.query_positions : in_order(map.keys.size());
  const auto fits = [&](const std::vector<std::string>& names,
                        const std::vector<int64_t>& positions, int axis) {
    return names.size() == positions.size() &&
           std::ssize(positions) == record.weights.dim(0) * record.weights.dim(axis);
  };
  check(fits(map.queries, map.query_positions, 2) && fits(map.keys, map.key_positions, 3),
        "{}: there are labels for {} queries and {} keys, but the weights have shape {}",
        record.name, map.queries.size(), map.keys.size(), record.weights.shape());
  return map;
}

}  // namespace

std::vector<AttentionRecord> record_attention(const Model& model, const Inputs& inputs) {
  const InferenceScope here;
  const Recorder recorder;
  model.logits(inputs);
  return recorder.records(model);
}

std::vector<AttentionMap> attention_maps(const std::vector<AttentionRecord>& records,
                                         const PositionLabels& labels) {
  std::vector<AttentionMap> maps;
  for (const AttentionRecord& record : records) maps.push_back(map_of(record, labels));
  return maps;
}

int64_t weights_in(const std::vector<AttentionMap>& maps) {
  int64_t count = 0;
  for (const AttentionMap& map : maps) count += map.weights.size();
  return count;
}

double largest_weight(const AttentionMap& map) {
  double largest = 0;
  for (int64_t i = 0; i < map.weights.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(map.weights.data()[i])));
  return largest;
}

std::string attention_bytes(const AttentionMap& map, double scale) {
  const auto rows = map.queries.size(), columns = map.keys.size();
  std::string bytes(static_cast<size_t>(map.heads()) * rows * columns, '\0');
  for_each_weight(map, [&](size_t head, size_t query, size_t key, real weight) {
    const double share = std::min(1.0, std::abs(static_cast<double>(weight)) / scale);
    bytes[(head * rows + query) * columns + key] =
        static_cast<char>(std::lround(255 * std::sqrt(share)));
  });
  return bytes;
}

std::string attention_csv(const std::vector<AttentionMap>& maps) {
  std::string text = "name,head,query,key,query_token,key_token,weight\n";
  for (const AttentionMap& map : maps)
    for_each_weight(map, [&](size_t head, size_t query, size_t key, real weight) {
      text += fmt::format("{},{},{},{},{},{},{}\n", map.name, head, query, key,
                          csv_cell(map.queries[query]), csv_cell(map.keys[key]), weight);
    });
  return text;
}

std::string token_label(const TextCodec& codec, int32_t id) {
  std::string token = codec.vocabulary().token(id);
  if (codec.level() == Level::byte && id < 256) {
    if (id < 0x20 || id > 0x7E) return token;  // two hexadecimal digits
    token = std::string(1, static_cast<char>(id));
  }
  std::string label;
  for (const char c : token) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ')
      label += "␣";
    else if (c == '\n')
      label += "↵";
    else if (byte < 0x20 ||
             byte == 0x7F)  // U+2400 … U+241F, U+2421: symbols for control characters
      label += {'\xE2', '\x90', static_cast<char>(byte == 0x7F ? 0xA1 : 0x80 + byte)};
    else
      label += c;
  }
  return shortened(label, label.size());  // shows invisible characters
}

std::vector<std::string> position_labels(int64_t positions, const std::vector<int64_t>& grid) {
  std::vector<std::string> labels;
  for (int64_t i = 0; i < positions; ++i) {
    std::vector<int64_t> coordinates(grid.size());
    int64_t rest = i;
    for (size_t axis = grid.size(); axis-- > 0; rest /= grid[axis])
      coordinates[axis] = rest % grid[axis];
    if (grid.empty()) coordinates = {i};
    labels.push_back(joined(coordinates, ","));
  }
  return labels;
}

}  // namespace heed
