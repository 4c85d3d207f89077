#include "apps/inference/vocabulary_file.h"

#include <algorithm>

#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "core/check.h"
#include "core/text.h"

namespace heed {
namespace {

constexpr int64_t max_bytes = int64_t{1} << 28;  // ten million tokens take 160 MB

Json codec_json(const TextCodec& codec) {
  Json json = Json::object()
                  .set("level", name_of(levels, codec.level()))
                  .set("symbols", codec.vocabulary().tokens());
  if (codec.subwords()) json.set("sentencepiece", base64(codec.subwords()->model()));
  return json;
}

std::shared_ptr<const TextCodec> codec_of(const Json& json) {
  const std::string& level = json.at("level").string();
  const auto found = std::find_if(std::begin(levels), std::end(levels),
                                  [&](const auto& entry) { return entry.name == level; });
  check_input(found != std::end(levels), "no level {}", in_quotes(level, '\''));
  std::shared_ptr<const Subwords> subwords;
  if (found->value == Level::subword)
    subwords = std::make_shared<Subwords>(bytes_of_base64(json.at("sentencepiece").string()));
  return std::make_shared<TextCodec>(found->value, json.at("symbols").strings(), subwords);
}

void add_lengths(Json& json, const Corpus& corpus) {
  if (corpus.prompt_length > 0)
    json.set("prompt", corpus.prompt_length).set("answer", corpus.target_length);
}

// The format of inputs that are not a sequence of tokens.
void add_format(Json& json, const Corpus& corpus) {
  if (corpus.format.features > 0) json.set("features", corpus.format.features);
  if (corpus.format.has_edges) json.set("edge_features", corpus.format.edge_features);
  if (corpus.format.global > 0) json.set("global", corpus.format.global);
  if (corpus.format.numbers) json.set("numbers", true);
  if (corpus.format.at_positions) json.set("at_positions", true);
  if (corpus.format.two_sources) json.set("two_sources", true);
  if (corpus.format.positions > 0) json.set("positions", corpus.format.positions);
  if (corpus.format.targets > 0) json.set("targets", corpus.format.targets);
  if (corpus.grid.empty()) return;
  json.set("grid", corpus.grid);
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
  if (corpus.framing == ModelKind::language_model)
    for (const char* name : {"edge_features", "grid"})
      check_input(!json.find(name), "'{}', but a language model reads a sequence", name);
  if (const Json* numbers = json.find("numbers")) corpus.format.numbers = numbers->flag();
  if (const Json* places = json.find("at_positions")) corpus.format.at_positions = places->flag();
  if (const Json* two = json.find("two_sources")) corpus.format.two_sources = two->flag();
  if (const Json* positions = json.find("positions"))
    corpus.format.positions = count_in(*positions, 1);
  if (const Json* targets = json.find("targets")) corpus.format.targets = count_in(*targets, 1);
  if (const Json* features = json.find("features")) corpus.format.features = count_in(*features, 1);
  if (const Json* edge_features = json.find("edge_features")) {
    corpus.format.has_edges = true;
    corpus.format.edge_features = count_in(*edge_features, 0);
    if (const Json* global = json.find("global")) corpus.format.global = count_in(*global, 1);
  }
  if (const Json* grid = json.find("grid")) corpus.grid = grid_of(*grid);
  check_input(corpus.grid.empty() || corpus.format.features > 0, "'grid' without 'features'");
  check_input(!corpus.format.two_sources ||
                  (corpus.format.features > 0 && corpus.framing != ModelKind::language_model),
              "'two_sources' without 'features', or of a language model");
}

void parse_codecs(const Json& json, Corpus& corpus) {
  const bool is_classifier = corpus.framing == ModelKind::classifier;
  const bool two = json.find("target") != nullptr;
  if (corpus.format.features == 0 || corpus.format.two_sources)
    corpus.source = codec_of(two ? json.at("source") : json);
  if (two)
    corpus.target = codec_of(json.at("target"));
  else if (!is_classifier)
    corpus.target = corpus.source;
  if (corpus.format.at_positions && corpus.source && !two)
    corpus.source = std::make_shared<TextCodec>(corpus.source->without_marks());
  if (corpus.format.at_positions && corpus.target && !two) corpus.target = corpus.source;
  if (corpus.format.numbers) return corpus.target.reset();
  check_input(is_classifier || corpus.target, "'target' is missing");
  if (corpus.framing == ModelKind::seq2seq)
    for (const char* token : {begin_token, end_token})
      check_input(corpus.target->vocabulary().find(token) != Vocabulary::none,
                  "the vocabulary of the target has no {}, which an encoder-decoder needs", token);
  if (!is_classifier) return;
  corpus.labels = json.at("labels").strings();
  check_input(!corpus.labels.empty(), "'labels' is empty");
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

std::string codec_digest(const TextCodec& codec) { return sha256(codec_json(codec).text()); }

std::string labels_digest(const std::vector<std::string>& labels) {
  return sha256(Json(labels).text());
}

Json vocabulary_identity(const Corpus& corpus) {
  Json json = Json::object();
  if (corpus.source) json.set("source", codec_digest(*corpus.source));
  if (corpus.target && corpus.framing != ModelKind::classifier)
    json.set("target", codec_digest(*corpus.target));
  add_format(json, corpus);
  if (!corpus.labels.empty()) json.set("labels", labels_digest(corpus.labels));
  add_lengths(json, corpus);
  return json;
}

// Calls read(json) with the content of the file.
template <class Read>
static void read_members(const std::string& path, const Read& read) {
  const Json json = read_json(path, "vocabulary", max_bytes);
  in_context(
      path, [&] { read(json); }, "; expected the file that training wrote");
}

ExistingVocabulary read_codecs(const std::string& path) {
  ExistingVocabulary existing;
  read_members(path, [&](const Json& json) {
    const Json *source = json.find("source"), *target = json.find("target");
    if (json.find("features") && !target && !json.find("two_sources")) return;
    existing.target = codec_of(target ? *target : json);
    existing.source = source ? codec_of(*source) : existing.target;
  });
  return existing;
}

Corpus read_vocabulary(const std::string& path, ModelKind framing) {
  Corpus corpus;
  corpus.framing = framing;
  read_members(path, [&](const Json& json) {
    read_format(json, corpus);
    parse_codecs(json, corpus);
    if (json.find("prompt") || json.find("answer")) {
      corpus.prompt_length = count_in(json.at("prompt"), 1);
      corpus.target_length = count_in(json.at("answer"), 1);
    }
  });
  return corpus;
}

}  // namespace heed
