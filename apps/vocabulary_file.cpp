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

}  // namespace

std::string vocabulary_text(const Corpus& corpus) {
  Json json = Json::object();
  if (corpus.target && corpus.source != corpus.target)
    json.set("source", codec_json(*corpus.source)).set("target", codec_json(*corpus.target));
  else
    json = codec_json(*corpus.source);
  if (!corpus.labels.empty()) json.set("labels", corpus.labels);
  return json.text(1) + "\n";
}

Corpus read_vocabulary(const std::string& path, Framing framing) {
  const Json json = Json::parse(read_file(path, "vocabulary"), path);
  Corpus corpus;
  corpus.framing = framing;
  try {
    const bool two = json.find("source") != nullptr;
    corpus.source = codec_of(two ? json.at("source") : json);
    corpus.target = two ? codec_of(json.at("target")) : corpus.source;
    if (framing == Framing::classifier) corpus.labels = json.at("labels").strings();
  } catch (const InputError& error) {
    throw InputError(
        fmt::format("{}: {}; it must be the one that training wrote", path, error.what()));
  }
  return corpus;
}

}  // namespace heed
