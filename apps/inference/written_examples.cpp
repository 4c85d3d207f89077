#include "apps/inference/written_examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <span>
#include <vector>

#include "apps/support/json.h"
#include "core/atomic_file.h"
#include "core/check.h"
#include "core/text.h"
#include "data/example_loader.h"
#include "data/generated.h"

namespace heed {
namespace {

using Ids32 = std::span<const int32_t>;

Json token_list(const TextCodec& codec, Ids32 ids) {
  return Json::list(
      ids, [&](int32_t id) { return id < 0 ? Json() : Json(codec.vocabulary().token(id)); });
}

// A text, or a list if the text would be read as other tokens.
Json tokens_json(const TextCodec& codec, Ids32 ids) {
  const std::string text = codec.decode(ids);
  if (find_invalid_utf8(text) == text.npos) try {
      if (std::ranges::equal(codec.encode(text), ids)) return text;
    } catch (const InputError&) {  // <unk> or another token that no text has
    }
  return token_list(codec, ids);
}

// The double that has the fewest digits of all that are read as this float.
double exact(float number) { return std::strtod(fmt::format("{}", number).c_str(), nullptr); }

Json number_json(float number) { return std::isnan(number) ? Json() : Json(exact(number)); }

// The vectors of an array (count, width).
Json vectors_json(std::span<const float> numbers, int64_t count) {
  const size_t width = numbers.size() / static_cast<size_t>(std::max<int64_t>(1, count));
  Json rows = Json::array();
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)
    rows.push(Json::list(numbers.subspan(i * width, width), exact));
  return rows;
}

Json edges_json(const Example& example) {
  const size_t width = example.edge_features.size() / std::max<size_t>(1, example.sender.size());
  Json edges = Json::array();
  for (size_t e = 0; e < example.sender.size(); ++e) {
    Json edge = Json::array(
        {static_cast<int64_t>(example.sender[e]), static_cast<int64_t>(example.receiver[e])});
    for (size_t i = 0; i < width; ++i) edge.push(exact(example.edge_features[e * width + i]));
    edges.push(std::move(edge));
  }
  return edges;
}

Json groups_json(const Groups& groups) {
  if (groups.size() == 1 && groups[0].first.empty()) return groups[0].second;
  Json json = Json::object();
  for (const auto& [name, value] : groups) json.set(name, value);
  return json;
}

// What the model should say: labels or numbers, one for the whole or one at each position; the
// output of a pair; or the tokens at each position.
Json target_json(const Corpus& corpus, const Example& example, bool is_pair) {
  const bool is_label = corpus.framing == ModelKind::classifier,
             is_whole = is_label && !corpus.format.at_positions;
  if (corpus.format.numbers)
    return is_whole ? number_json(example.values.at(0)) : Json::list(example.values, number_json);
  if (is_label) {
    const auto label = [&](int32_t id) {
      return id < 0 ? Json() : Json(corpus.labels.at(static_cast<size_t>(id)));
    };
    return is_whole ? label(example.target.at(0)) : Json::list(example.target, label);
  }
  if (!is_pair) return token_list(*corpus.target, example.target);
  std::vector<int32_t> ids;  // without <eos>
  for (const int32_t id : example.target)
    if (id >= 0 && id != corpus.target->vocabulary().end()) ids.push_back(id);
  return tokens_json(*corpus.target, ids);
}

// For each target but <eos> the loss of the best possible predictor, or its probabilities.
Json reference_json(const Corpus& corpus, const Example& example) {
  const auto width = static_cast<size_t>(corpus.reference_width);
  const bool are_labels = !corpus.labels.empty();
  std::vector<int32_t> order;
  if (width > 1)
    order = reference_order(are_labels ? corpus.labels : corpus.target->vocabulary().tokens(),
                            are_labels);
  Json list = Json::array();
  for (std::span<const float> rest = example.reference; !rest.empty(); rest = rest.subspan(width))
    if (width == 1 && !std::isnan(rest[0]))
      list.push(exact(rest[0]));
    else if (!std::isnan(rest[0]))
      list.push(
          Json::list(order, [&](int32_t id) { return exact(rest[static_cast<size_t>(id)]); }));
  return list;
}

}  // namespace

std::string example_row(const Corpus& corpus, const Example& example) {
  Json row = Json::object();
  const bool is_pair = corpus.framing == ModelKind::seq2seq || example.prompt > 0;
  const char* const input = corpus.format.has_edges                 ? "nodes"
                            : is_pair && !corpus.format.two_sources ? "source"
                                                                    : "input";
  const bool at_positions =
      !is_pair && (corpus.framing != ModelKind::classifier || corpus.format.at_positions);
  row.set(input, corpus.format.features > 0 ? vectors_json(example.features, example.positions)
                 : at_positions             ? token_list(*corpus.source, example.input)
                                : tokens_json(*corpus.source, source_of(corpus, example)));
  if (corpus.format.two_sources) row.set("source", tokens_json(*corpus.source, example.source));
  if (corpus.format.has_edges) row.set("edges", edges_json(example));
  if (!example.global.empty()) row.set("global", Json::list(example.global, exact));
  if (!corpus.grid.empty()) row.set("grid", corpus.grid);
  if (!example.position_ids.empty())
    row.set("positions",
            Json::list(example.position_ids, [](int32_t id) { return static_cast<int64_t>(id); }));
  row.set("target", target_json(corpus, example, is_pair));
  if (!example.reference.empty()) row.set("reference", reference_json(corpus, example));
  if (example.group >= 0)
    row.set("group", groups_json(corpus.groups.at(static_cast<size_t>(example.group))));
  return row.text();
}

void write_examples(const std::string& path, const Corpus& corpus, const Dataset& dataset) {
  check_input(
      dataset.size < unlimited,
      "--write: the examples of this split are drawn without an end; choose another --split");
  AtomicFile file(path);
  Example example;
  for (int64_t i = 0; i < dataset.size; ++i) {
    dataset.get(i, example);
    file.write(example_row(corpus, example) + "\n");
  }
  file.commit();
}

}  // namespace heed
