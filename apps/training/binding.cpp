#include "apps/training/binding.h"

#include <fmt/format.h>

#include "apps/config/config.h"
#include "apps/inference/vocabulary_file.h"
#include "apps/support/digest.h"
#include "apps/support/files.h"
#include "apps/support/version.h"
#include "core/check.h"
#include "core/joined.h"
#include "core/text.h"

namespace heed {
namespace {

// Returns whether a key of the config changes what a trained model computes for an input.
bool is_bound(const std::string& key) {
  return key.starts_with("model.") || key == "precision" || key == "data.kind" ||
         key == "data.context";
}

// A value as JSON.
struct JsonWriter {
  template <class Value>
  Json operator()(const Value& value) const {
    return value;
  }
  Json operator()(const std::vector<int64_t>& integers) const {
    return Json::array({integers.begin(), integers.end()});
  }
};

Json bound_settings(const Experiment& experiment) {
  Json settings = Json::object();
  for (const ConfigEntry& entry : list_config(experiment))
    if (is_bound(entry.key)) settings.set(entry.key, std::visit(JsonWriter(), entry.value));
  return settings;
}

// Returns a member of state.json that is an object.
const Json& object_in(const Checkpoint& checkpoint, const char* name) {
  const Json* member = checkpoint.state().find(name);
  check_input(member && member->is_object(), "{}: state.json: '{}' is not an object",
              checkpoint.path(), name);
  return *member;
}

// Returns the text of a value for an error message.
std::string shown(const Json* value) { return value ? shortened(value->text()) : "missing"; }

bool equal(const Json* a, const Json* b) { return a && b && a->text() == b->text(); }

// `origin` and `remedy` are parts of the error message: the source of `now`, and what to do.
void check_vocabulary(const Checkpoint& checkpoint, const Json& identity, const std::string& origin,
                      const char* remedy) {
  const Json& trained = object_in(checkpoint, "vocabulary");
  const auto compare = [&](const std::string& name) {
    const Json *now = identity.find(name), *before = trained.find(name);
    const bool is_digest = name == "source" || name == "target" || name == "labels";
    check_input(!is_digest || equal(now, before),
                "{}: '{}' is not the vocabulary that the weights of {} were trained with; {}",
                origin, name, checkpoint.path(), remedy);
    check_input(equal(now, before), "{}: '{}' is {}, but for the weights of {} it was {}; {}",
                origin, shortened(name), shown(now), checkpoint.path(), shown(before), remedy);
  };
  for (const auto& member : trained.members()) compare(member.first);
  for (const auto& member : identity.members()) compare(member.first);
}

}  // namespace

void check_settings(const Checkpoint& checkpoint, const Experiment& experiment) {
  const Json settings = bound_settings(experiment);
  for (const auto& [key, before] : object_in(checkpoint, "settings").members()) {
    const Json* now = settings.find(key);
    check_input(equal(now, &before),
                "`{}` is {} in the config, but the weights of {} were trained with {}; restore the "
                "value, or train a new run",
                shortened(key), shown(now), checkpoint.path(), shown(&before));
  }
}

void check_vocabulary_file(const Checkpoint& checkpoint, const std::string& path,
                           ModelKind framing) {
  if (exists(path))
    check_vocabulary(checkpoint, vocabulary_identity(read_vocabulary(path, framing)), path,
                     "restore the file, or remove it and write it again with train --resume");
}

void check_data(const Checkpoint& checkpoint, const Corpus& corpus, const std::string& run,
                const Origins& origins) {
  const Json* trained = checkpoint.state().find("data");
  const bool same = trained && trained->text() == Json(corpus.fingerprint).text();
  std::vector<std::string> set;
  bool sets_path = false;
  for (const auto& [key, origin] : origins) {
    if (!key.starts_with("data.") || origin.kind != Origin::Kind::command_line) continue;
    set.push_back(shortened(origin.file, 1000));
    sets_path = sets_path || key.find("path") != key.npos;
  }
  check_input(same || set.empty(), "{}: not trained on these data: {} changes them; remove it{}",
              run, joined(set),
              sets_path ? ", or name a file with the contents that the run was trained on" : "");
  const std::string files = fmt::format("{}{}", corpus.files.size() > 1 ? "one of " : "",
                                        shortened(joined(corpus.files), 1000));
  check_input(same,
              "{}: the data have changed since the training{}; restore them, or start a new run",
              run, corpus.files.empty() ? "" : fmt::format(" ({})", files));
  check_vocabulary(checkpoint, vocabulary_identity(corpus), run + ": the vocabulary of the data",
                   "start a new run");
}

RowVocabularies row_vocabularies(const Corpus& corpus) {
  const bool is_classifier = corpus.framing == ModelKind::classifier;
  const auto of = [](const TextCodec& codec) {
    return RowVocabulary{name_of(levels, codec.level()), codec.vocabulary().tokens(),
                         codec_digest(codec)};
  };
  RowVocabularies all;
  if (corpus.source)
    all[corpus.framing == ModelKind::seq2seq ? "source_embedding.token.weight"
                                             : "embedding.token.weight"] = of(*corpus.source);
  if (corpus.target && !is_classifier)
    all["embedding.token.weight"] = all["head.weight"] = all["head.bias"] = of(*corpus.target);
  else if (!corpus.labels.empty())
    all["head.weight"] = all["head.bias"] = {"labels", corpus.labels, labels_digest(corpus.labels)};
  return all;
}

std::string vocabulary_key(const std::string& parameter) {
  return "vocabulary_sha256." + parameter;
}

Binding binding_of(const Experiment& experiment, const Corpus& corpus,
                   const std::vector<NamedParameter>& parameters) {
  Binding binding{bound_settings(experiment), vocabulary_identity(corpus), {}};
  Json model = Json::object();
  for (const auto& [key, value] : binding.settings.members())
    if (key.starts_with("model.")) model.set(key, value);
  binding.metadata = {{"heed", program_version}, {"model_sha256", sha256(model.text())}};
  const RowVocabularies vocabularies = row_vocabularies(corpus);
  for (const NamedParameter& parameter : parameters)
    if (const auto found = vocabularies.find(parameter.name); found != vocabularies.end())
      binding.metadata[vocabulary_key(parameter.name)] = found->second.digest;
  return binding;
}

}  // namespace heed
