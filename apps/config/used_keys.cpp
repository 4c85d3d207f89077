#include "apps/config/used_keys.h"

#include <algorithm>

#include "apps/support/numbers.h"
#include "data/kind.h"

namespace heed {
namespace {

// The values of a config.
struct Values {
  const ConfigListing& config;

  template <class... Words>
  bool is(const char* key, Words... words) const {
    const std::string value = value_of(config, key);
    return ((value == '"' + std::string(words) + '"') || ...);
  }
  bool is_zero(const char* key) const { return number_of_text(value_of(config, key)) == 0.0; }
  bool is_empty(const char* key) const { return value_of(config, key) == "\"\""; }

  bool has_attention() const {
    return is("model.block.mixing", "attention") || is("model.kind", "seq2seq") ||
           has_learned_pool();
  }
  bool has_learned_pool() const {
    return is("model.kind", "classifier") && is("model.pool", "learned");
  }
};

// A key, and when it has no effect. Where several kinds use a key, the others are named, so a new
// kind counts as using it.
struct Rule {
  const char* key;  // "model.attention.": all keys of this section
  bool (*is_unused)(const Values& values);
};

constexpr Rule rules[] = {
    {"train.label_smoothing_over",
     [](const Values& v) { return v.is_zero("train.label_smoothing"); }},
    {"train.measure_every",
     [](const Values& v) { return value_of(v.config, "train.measures") == "[]"; }},
    {"train.load_names", [](const Values& v) { return v.is_empty("train.load"); }},
    {"train.new_tokens",
     [](const Values& v) { return v.is_empty("train.load") && v.is_empty("data.vocabulary"); }},

    {"model.decoder_layers", [](const Values& v) { return !v.is("model.kind", "seq2seq"); }},
    {"model.tie_weights", [](const Values& v) { return v.is("model.kind", "classifier"); }},
    {"model.pool", [](const Values& v) { return !v.is("model.kind", "classifier"); }},
    {"model.pool_queries", [](const Values& v) { return !v.has_learned_pool(); }},
    {"model.attention_dropout", [](const Values& v) { return !v.has_attention(); }},

    {"model.positional.max_length",
     [](const Values& v) { return !v.is("model.positional.kind", "learned"); }},
    {"model.positional.layout",
     [](const Values& v) {
       return v.is("model.positional.kind", "none", "learned", "integer", "alibi", "relative");
     }},
    {"model.positional.base",
     [](const Values& v) {
       return v.is("model.positional.kind", "none", "learned", "integer", "alibi", "relative");
     }},
    {"model.positional.first_k",
     [](const Values& v) {
       return v.is("model.positional.kind", "none", "learned", "integer", "rotary", "alibi",
                   "relative");
     }},
    {"model.positional.buckets",
     [](const Values& v) { return !v.is("model.positional.kind", "relative"); }},
    {"model.positional.max_distance",
     [](const Values& v) { return !v.is("model.positional.kind", "relative"); }},

    {"model.attention.", [](const Values& v) { return !v.has_attention(); }},
    {"model.attention.causal",
     [](const Values& v) { return v.is("model.kind", "language_model"); }},
    {"model.attention.scale",
     [](const Values& v) { return !v.is("model.attention.similarity", "scaled_dot"); }},
    {"model.attention.scale_value",
     [](const Values& v) {
       return !v.is("model.attention.similarity", "scaled_dot") ||
              !v.is("model.attention.scale", "value");
     }},
    {"model.attention.sigma",
     [](const Values& v) { return !v.is("model.attention.similarity", "gaussian"); }},
    {"model.attention.head_width",
     [](const Values& v) {
       return !v.is_zero("model.attention.key_dim") ||
              value_of(v.config, "model.attention.key_dims") != "[]";
     }},

    {"model.block.kernel_size",
     [](const Values& v) { return !v.is("model.block.mixing", "convolution"); }},
    {"model.block.padding",
     [](const Values& v) { return !v.is("model.block.mixing", "convolution"); }},
    {"model.block.length", [](const Values& v) { return !v.is("model.block.mixing", "dense"); }},

    {"model.init.gain", [](const Values& v) { return v.is("model.init.kind", "normal", "gpt2"); }},
    {"model.init.std",
     [](const Values& v) {
       return v.is("model.init.kind", "xavier_uniform", "xavier_normal", "kaiming_uniform",
                   "kaiming_normal");
     }},

    {"optim.lr",
     [](const Values& v) {
       return v.is("schedule.kind", "inverse_sqrt") && !v.is_zero("schedule.dim");
     }},
    {"optim.decay", [](const Values& v) { return v.is_zero("optim.weight_decay"); }},
    {"optim.momentum", [](const Values& v) { return v.is("optim.kind", "adam", "adamw"); }},
    {"optim.nesterov", [](const Values& v) { return v.is("optim.kind", "adam", "adamw"); }},
    {"optim.amsgrad", [](const Values& v) { return v.is("optim.kind", "sgd"); }},
    {"optim.beta1", [](const Values& v) { return v.is("optim.kind", "sgd"); }},
    {"optim.beta2", [](const Values& v) { return v.is("optim.kind", "sgd"); }},
    {"optim.epsilon", [](const Values& v) { return v.is("optim.kind", "sgd"); }},

    {"schedule.steps",
     [](const Values& v) { return v.is("schedule.kind", "constant", "inverse_sqrt", "plateau"); }},
    {"schedule.min_lr",
     [](const Values& v) { return v.is("schedule.kind", "constant", "inverse_sqrt"); }},
    {"schedule.dim", [](const Values& v) { return !v.is("schedule.kind", "inverse_sqrt"); }},
    {"schedule.scale",
     [](const Values& v) {
       return !v.is("schedule.kind", "inverse_sqrt") || v.is_zero("schedule.dim");
     }},
    {"schedule.factor", [](const Values& v) { return !v.is("schedule.kind", "plateau"); }},
    {"schedule.patience", [](const Values& v) { return !v.is("schedule.kind", "plateau"); }},
    {"schedule.threshold", [](const Values& v) { return !v.is("schedule.kind", "plateau"); }},
};

// data/kind.h has the keys of each kind of data.
bool is_used_by_data(const std::string& name, const ConfigListing& config) {
  const std::string quoted = value_of(config, "data.kind");
  const DataKind* const kind =
      quoted.empty() ? nullptr : DataKind::named(quoted.substr(1, quoted.size() - 2));
  return !kind || kind->uses(name);
}

}  // namespace

bool is_used(const std::string& key, const ConfigListing& config) {
  constexpr std::string_view data = "data.";
  const Values values{config};
  if (key.starts_with(data)) return is_used_by_data(key.substr(data.size()), config);
  const auto is_about = [&](std::string_view name) {  // a convolution reads "causal", too
    return name.ends_with('.') ? key.starts_with(name) && !key.ends_with(".causal") : key == name;
  };
  return std::ranges::none_of(
      rules, [&](const Rule& rule) { return is_about(rule.key) && rule.is_unused(values); });
}

Field::Effect effect_of(std::string_view key, const ConfigListing& config) {
  const bool averages = value_of(config, "train.average_checkpoints") != "1";
  if (key == "train.checkpoint_every" && averages) return Field::Effect::weights;
  const ConfigEntry* const entry = find_entry(config, key);
  return entry ? entry->effect : Field::Effect::weights;
}

bool changes_result(std::string_view key, const ConfigListing& config) {
  const Field::Effect effect = effect_of(key, config);
  return effect == Field::Effect::result || effect == Field::Effect::weights;
}

bool changes_metrics(std::string_view key, const ConfigListing& config) {
  return key == "train.log_every" || changes_result(key, config);
}

}  // namespace heed
