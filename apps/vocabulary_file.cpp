#include "apps/vocabulary_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/files.h"
#include "apps/json.h"
#include "core/check.h"

namespace heed {
namespace {

Json codec_json(const TextCodec& codec) {
  return Json::object()
      .set("level", level_names[static_cast<int>(codec.level())])
      .set("symbols", codec.vocabulary().symbols());
}

std::shared_ptr<const TextCodec> codec_of(const Json& json) {
  const std::string& level = json.at("level").string();
  const auto place = std::find(std::begin(level_names), std::end(level_names), level);
  check_input(place != std::end(level_names), "no level '{}'", level);
  return std::make_shared<TextCodec>(static_cast<Level>(place - std::begin(level_names)),
                                     json.at("symbols").strings());
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

}  // namespace

std::string vocabulary_text(const Corpus& corpus) {
  Json json = Json::object();
  if (corpus.target && corpus.source != corpus.target)
    json.set("source", codec_json(*corpus.source)).set("target", codec_json(*corpus.target));
  else
    json = codec_json(*corpus.source);
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
    const bool two = json.find("source") != nullptr;
    corpus.source = codec_of(two ? json.at("source") : json);
    corpus.target = two ? codec_of(json.at("target")) : corpus.source;
    if (framing == Framing::classifier) corpus.labels = json.at("labels").strings();
    if (json.find("prompt")) {
      saved.prompt = json.at("prompt").integer();
      saved.answer = json.at("answer").integer();
    }
  } catch (const InputError& error) {
    throw InputError(
        fmt::format("{}: {}; it must be the one that training wrote", path, error.what()));
  }
  return saved;
}

}  // namespace heed
