// Keys that a config does not use: no value of them changes a bit of a training.
#include <set>
#include <sstream>

#include "apps/config/config.h"
#include "apps/training/load_data.h"
#include "apps/training/trainer.h"
#include "temporary.h"

using namespace heed;

namespace {

using Assignments = std::vector<std::string>;

const Assignments tiny_sizes = {
    "threads=1",       "train.steps=3",   "train.batch_size=2", "train.evaluate_every=0",
    "model.layers=1",  "model.dim=8",     "model.heads=2",      "model.feed_forward=8",
    "data.val_size=2", "data.test_size=2"};

const std::vector<Assignments> forms = {
    {"data.kind=reverse", "optim.kind=sgd"},
    {"data.kind=reverse", "model.block.mixing=convolution", "schedule.kind=linear"},
    {"data.kind=parity", "model.kind=language_model", "model.positional.kind=learned",
     "schedule.kind=inverse_sqrt", "schedule.dim=8", "schedule.warmup_steps=2",
     "model.init.kind=normal"},
    {"data.kind=parity", "model.kind=language_model", "model.positional.kind=rotary",
     "model.attention.similarity=dot", "optim.weight_decay=0"},
    {"data.kind=parity", "model.kind=language_model", "model.positional.kind=alibi",
     "model.attention.scale=value", "schedule.kind=cosine"},
    {"data.kind=parity", "model.kind=language_model", "model.positional.kind=none",
     "model.block.mixing=gru"},
    {"data.kind=set", "data.lengths=[2,4]", "model.kind=classifier",
     "model.positional.kind=relative", "model.attention.similarity=gaussian",
     "model.attention.key_dim=3", "model.pool=learned", "model.init.kind=kaiming_uniform"},
    {"data.kind=parity", "model.kind=language_model", "model.norm=none",
     "model.block.feed_forward=false"},
    {"data.kind=set", "data.lengths=[2,4]", "model.kind=classifier", "model.block.mixing=dense",
     "model.positional.kind=integer", "schedule.kind=plateau"},
    {"data.kind=graph", "data.lengths=[3,4]", "model.kind=classifier", "model.positional.kind=none",
     "model.block.mixing=graph_attention"},
    {"data.kind=graph", "data.lengths=[3,4]", "model.kind=classifier", "model.positional.kind=none",
     "model.attention.graph_distances=3", "model.attention.projection_hidden=3"},
    {"data.kind=graph", "data.lengths=[3,4]", "model.kind=classifier", "model.positional.kind=none",
     "model.block.mixing=graph_convolution"},
    {"data.kind=shapes", "data.size=3", "model.kind=classifier", "model.block.mixing=convolution"},
    {"data.kind=set", "data.lengths=[2,4]", "model.kind=classifier",
     "model.block.mixing=induced_attention"},
    {"data.kind=set", "data.lengths=[2,4]", "model.kind=classifier",
     "model.positional.kind=gaussian", "model.attention.over=features"},
    {"data.kind=shapes", "model.kind=classifier", "model.positional.kind=learned"},
};

// The weights after training, or nothing if the config is rejected.
std::string trained(const std::string& path, const Assignments& form,
                    const std::string& more = "") {
  Assignments set = tiny_sizes;
  set.insert(set.end(), form.begin(), form.end());
  if (!more.empty()) set.push_back(more);
  try {
    const LoadedConfig config = load_config(path, set);
    const Corpus corpus = load_data(config);
    Trainer trainer(config.experiment, corpus);
    for (int step = 0; step < 2; ++step) static_cast<void>(trainer.step());
    std::string bytes;
    for (const NamedParameter& each : trainer.model().parameters())
      bytes.append(reinterpret_cast<const char*>(each.tensor.data()),
                   static_cast<size_t>(each.tensor.size()) * sizeof(real));
    return bytes;
  } catch (const InputError&) {
    return "";
  }
}

// Other values of a key; some may be rejected.
std::vector<std::string> other_values(const ConfigEntry& entry) {
  std::string value = entry.text();
  std::erase(value, '"');
  std::vector<std::string> values;
  if (entry.type == "true or false") values = {value == "true" ? "false" : "true"};
  if (entry.type == "integer") values = {value == "0" ? "2" : value + "0", "1", "3", "4"};
  if (entry.type == "number")
    values = {fmt::format("{}", 0.25 + 0.5 * *entry.number()), "0.125", "3"};
  if (entry.type == "list of integers") values = {"[0]", "[1, 2]", "[2, 4]"};
  std::istringstream words(entry.type == "choice" ? entry.allowed : "");
  for (std::string word; std::getline(words >> std::ws, word, ',');) values.push_back(word);
  std::erase(values, value);
  return values;
}

// Keys whose values show later than in two steps, on other processors, or on longer or other data.
const std::set<std::string> shown_elsewhere = {
    "precision", "train.evaluate_batch_size", "train.average_checkpoints", "train.best_by",
    "optim.ema", "data.kind", "data.val_size", "data.test_size", "schedule.factor",
    "schedule.patience", "schedule.threshold", "model.positional.max_distance",
    // Vectors have no embedding, and the axes of a grid have their own lengths.
    "model.scale_embedding", "model.positional.max_length",
    // Over features it can only be what it is.
    "model.attention.value_dim"};

}  // namespace

// A key is rejected, unused, or does something.
TEST_CASE("used keys: no unused key changes a bit of a training, and every used one does") {
  const TemporaryFolder folder;
  const std::string path = folder / "c.toml";
  write_file(path, "seed = 1\n");
  int checked = 0, effective = 0;
  for (const Assignments& form : forms) {
    Assignments set = tiny_sizes;
    set.insert(set.end(), form.begin(), form.end());
    const ConfigListing config = list_config(load_config(path, set).experiment);
    const std::string weights = trained(path, form);
    REQUIRE_FALSE(weights.empty());
    for (const ConfigEntry& entry : config) {
      if (entry.is_used && entry.effect != Field::Effect::weights) continue;
      CAPTURE(entry.key);
      CAPTURE(form);
      int accepted = 0, others = 0;  // of these values
      for (const std::string& value : other_values(entry)) {
        const std::string after = trained(path, form, entry.key + "=" + value);
        accepted += !after.empty();
        others += !after.empty() && after != weights;
        if (others > 0) break;
      }
      if (accepted == 0) continue;
      if (others == 0 && shown_elsewhere.contains(entry.key)) continue;
      CHECK((others > 0) == entry.is_used);
      ++(entry.is_used ? effective : checked);
    }
  }
  CHECK(checked >= 200);
  CHECK(effective >= 400);
}

TEST_CASE("used keys: what a kind of data does not read, and options of forms not chosen") {
  Experiment experiment;
  const auto used = [&](const char* key) {
    return find_entry(list_config(experiment), key)->is_used;
  };
  CHECK(used("data.symbols"));
  CHECK_FALSE(used("data.path"));
  CHECK(used("model.positional.base"));
  CHECK_FALSE(used("model.positional.buckets"));
  CHECK(used("optim.lr"));
  experiment.data.kind = &data_kinds::text;
  experiment.model.positional.kind = &positional_encodings::relative;
  CHECK_FALSE(used("data.symbols"));
  CHECK(used("data.path"));
  CHECK_FALSE(used("model.positional.base"));
  CHECK(used("model.positional.buckets"));
  experiment.schedule.kind = &schedules::inverse_sqrt;
  experiment.schedule.dim = 64;
  CHECK_FALSE(used("optim.lr"));  // the formula replaces it
}

TEST_CASE("used keys: what another value of a key does to a run") {
  using Effect = Field::Effect;
  Experiment experiment;
  const auto keys_with = [&](Effect effect) {
    return lines_of(list_config(experiment),
                    [&](const ConfigEntry& entry) { return entry.effect == effect; });
  };
  experiment.train.samples = 7;
  experiment.data.path = "/d.tsv";
  CHECK(keys_with(Effect::none) ==
        "threads = 0\ntrain.evaluate_splits = [\"val\"]\ntrain.checkpoint_every = 500\n"
        "train.keep_checkpoints = 1\ntrain.snapshots = 20\ntrain.log_every = 50\n"
        "train.statistics = false\n"
        "train.measures = []\ntrain.measure_every = 0\ntrain.measure_examples = 128\n"
        "train.samples = 7\ntrain.detect_anomaly = false\ntrain.rank_timeout = 600\n"
        "data.command_timeout = 60\ndata.keep = false\n");
  CHECK(keys_with(Effect::data) ==
        "data.path = \"/d.tsv\"\ndata.paths = []\ndata.command_folder = \"\"\ndata.target_path = "
        "\"\"\n"
        "data.val_path = \"\"\ndata.val_target_path = \"\"\ndata.test_path = \"\"\n"
        "data.test_target_path = \"\"\ndata.tokenizer = \"\"\n");
  CHECK(keys_with(Effect::result) ==
        "train.steps = 1000\ntrain.evaluate_every = 500\ntrain.evaluate_factor = 1.0\n"
        "train.patience = 0\n");
  experiment.train.average_checkpoints = 3;  // at checkpoints, whose interval then matters
  const ConfigListing averages = list_config(experiment);
  CHECK(effect_of(averages, "train.checkpoint_every") == Effect::weights);
  CHECK(effect_of(averages, "no.such_key") == Effect::weights);
  CHECK(find_entry(averages, "train.steps")->changes_result());
  CHECK_FALSE(find_entry(averages, "data.path")->changes_result());
}
