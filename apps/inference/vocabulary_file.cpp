#include "apps/inference/vocabulary_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/support/files.h"
#include "apps/support/json.h"
#include "core/check.h"
#include "core/text.h"

namespace heed {
namespace {

Json codec_json(const TextCodec& codec) {
  return Json::object()
      .set("level", name_of(levels, codec.level()))
      .set("symbols", codec.vocabulary().tokens());
}

std::shared_ptr<const TextCodec> codec_of(const Json& json) {
  const std::string& level = json.at("level").string();
  const auto found = std::find_if(std::begin(levels), std::end(levels),
                                  [&](const auto& entry) { return entry.name == level; });
  check_input(found != std::end(levels), "no level {}", in_quotes(level, '\''));
  return std::make_shared<TextCodec>(found->value, json.at("symbols").strings());
}

void add_lengths(Json& json, const Corpus& corpus) {
  if (corpus.framing != Framing::language_model) return;
  Example example;
  corpus.splits.begin()->second->get(0, example);
  if (example.prompt == 0 || corpus.target->vocabulary().end() != Vocabulary::none) return;
  json.set("prompt", int64_t{example.prompt});
  json.set("answer", int64_t{std::count_if(example.target.begin(), example.target.end(),
                                           [](int32_t id) { return id >= 0; })});
}

// The format of inputs that are not a sequence of tokens.
void add_format(Json& json, const Corpus& corpus) {
  if (corpus.format.features > 0) json.set("features", corpus.format.features);
  if (corpus.format.has_edges) json.set("edge_features", corpus.format.edge_features);
  if (corpus.grid.empty()) return;
  Json grid = Json::array();
  for (const int64_t length : corpus.grid) grid.push(length);
  json.set("grid", std::move(grid));
}

int64_t count_in(const Json& json, int64_t min) {
  const int64_t count = json.integer();
  check_input(min <= count && count <= 1 << 20, "{} is not in [{}, {}]", count, min, 1 << 20);
  return count;
}

// Limits the axes and positions to what data can have, because the file may be invalid.
std::vector<int64_t> grid_of(const Json& json) {
  constexpr size_t max_axes = 5;
  constexpr int64_t max_positions = 1 << 24;
  check_input(json.elements().size() <= max_axes, "a grid of more than {} axes", max_axes);
  std::vector<int64_t> grid;
  int64_t positions = 1;
  for (const Json& length : json.elements()) {
    grid.push_back(count_in(length, 1));
    positions *= grid.back();
    check_input(positions <= max_positions, "a grid of more than {} positions", max_positions);
  }
  return grid;
}

void read_format(const Json& json, Corpus& corpus) {
  if (const Json* features = json.find("features")) corpus.format.features = count_in(*features, 1);
  if (const Json* edge_features = json.find("edge_features")) {
    corpus.format.has_edges = true;
    corpus.format.edge_features = count_in(*edge_features, 0);
  }
  if (const Json* grid = json.find("grid")) corpus.grid = grid_of(*grid);
}

}  // namespace

std::string vocabulary_text(const Corpus& corpus) {
  Json json = Json::object();
  if (corpus.source && corpus.target && corpus.source != corpus.target)
    json.set("source", codec_json(*corpus.source)).set("target", codec_json(*corpus.target));
  else if (corpus.source)
    json = codec_json(*corpus.source);
  else if (corpus.target)
    json.set("target", codec_json(*corpus.target));
  add_format(json, corpus);
  if (!corpus.labels.empty()) json.set("labels", corpus.labels);
  add_lengths(json, corpus);
  return json.text(1) + "\n";
}

SavedVocabulary read_vocabulary(const std::string& path, Framing framing) {
  const Json json = Json::parse(read_file(path, "vocabulary"), path);
  SavedVocabulary saved;
  Corpus& corpus = saved.corpus;
  corpus.framing = framing;
  try {
    read_format(json, corpus);
    const bool two = json.find("target") != nullptr;
    if (corpus.format.features == 0) corpus.source = codec_of(two ? json.at("source") : json);
    if (two || framing != Framing::classifier)
      corpus.target = two ? codec_of(json.at("target")) : corpus.source;
    if (framing == Framing::classifier) corpus.labels = json.at("labels").strings();
    if (json.find("prompt")) {
      saved.prompt_length = json.at("prompt").integer();
      saved.target_length = json.at("answer").integer();
    }
  } catch (const InputError& error) {
    throw InputError(
        fmt::format("{}: {}; expected the file that training wrote", path, error.what()));
  }
  return saved;
}

}  // namespace heed
