#include "apps/config/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "apps/config/config.h"
#include "core/joined.h"
#include "data/generated.h"
#include "optim/average.h"

namespace heed {

constexpr int64_t max_batch_size = 1'000'000;

void TrainOptions::fields(Fields& f) {
  static constexpr Named<Smoothing> smoothings[] = {
      {"vocabulary", Smoothing::vocabulary},
      {"others", Smoothing::others},
      {"possible_others", Smoothing::possible_others}};
  constexpr Range count{0, 1e12}, positive{1, 1e12};
  f.integer("steps", steps, positive, "number of updates of the weights", Field::Effect::result);
  f.integer("batch_size", batch_size, {0, max_batch_size},
            "examples in a micro-batch; 0: all training examples, each once");
  f.integer("accumulate", accumulate, {1, 1e6},
            "micro-batches in a step; their gradients add up to that of one large batch");
  f.integer(
      "shards", shards, {1, 1024},
      "parts of a micro-batch that are computed at the same time, each by one thread; a power "
      "of two that divides batch_size; small models often train faster with as many as threads");
  f.number("label_smoothing", label_smoothing, {0, 0.99},
           "probability ε that is moved from the target to other classes");
  f.choice("label_smoothing_over", label_smoothing_over, smoothings,
           "the classes that receive it: all V classes, ε/V each (PyTorch); all except the target, "
           "ε/(V-1); or these without <bos>, which is never a target, ε/(V-2) (The Annotated "
           "Transformer)")
      .when(label_smoothing != 0);
  f.integer("evaluate_every", evaluate_every, count,
            "steps between evaluations; 0: only at the end", Field::Effect::result);
  f.number("evaluate_factor", evaluate_factor, {1, 1000},
           "above 1: the first evaluation is after evaluate_every steps, and each other one after "
           "this many times the steps of the one before, rounded up; 1: all are evaluate_every "
           "steps apart",
           Field::Effect::result)
      .when(evaluate_every > 0);
  f.texts("evaluate_splits", evaluate_splits,
          "splits to score at each evaluation, such as test_longer; val is always scored, and only "
          "val decides which checkpoint is the best",
          Field::Effect::none);
  f.integer("evaluate_batch_size", evaluate_batch_size, count,
            "examples in a batch of an evaluation; 0: the same as batch_size");
  const bool averages = average_checkpoints != 1;  // those at checkpoints
  f.integer("checkpoint_every", checkpoint_every, count,
            "steps between checkpoints; 0: only at evaluations and at the end",
            averages ? Field::Effect::weights : Field::Effect::none);
  f.integer("keep_checkpoints", keep_checkpoints, positive,
            "number of newest checkpoints to keep, besides the best one", Field::Effect::none);
  f.integer("snapshots", snapshots, {0, 100},
            "how many files of weights to keep beside the checkpoints, for `heed inspect`: the "
            "newest of those after 1, 2, 3, 4, 6, 8, 12, 16, 24, … steps, at most 64 MiB together; "
            "0: none, the default in a sweep",
            Field::Effect::none);
  f.integer("average_checkpoints", average_checkpoints, snapshots_range,
            "evaluate and save the mean of the present weights and of those at the last n - 1 "
            "checkpoints (every checkpoint_every steps); 1: no mean");
  f.integer("log_every", log_every, positive, "steps between lines of the log",
            Field::Effect::none);
  f.flag("statistics", statistics,
         "write norms of parameters, gradients and updates, and statistics of layers and attention "
         "heads, into metrics.jsonl, as often as lines of the log",
         Field::Effect::none);
  f.texts(
      "measures", measures,
      "what to measure inside the model while it trains, in metrics.jsonl: heads, ablate, lens, "
      "as `heed inspect` shows them, and train, the scores on a part of the training split",
      Field::Effect::none);
  f.integer("measure_every", measure_every, count,
            "steps between measures; 0: with every evaluation", Field::Effect::none)
      .when(!measures.empty());
  f.integer("measure_examples", measure_examples, count,
            "examples of the training split whose scores are measured, the first ones; 0: all",
            Field::Effect::none)
      .when(!measures.empty());
  f.integer("samples", samples, {0, 100}, "number of predictions to show at each evaluation",
            Field::Effect::none);
  f.choice("best_by", best_by, scores::all,
           "score on the validation split that decides which checkpoint is the best");
  f.integer("patience", patience, count,
            "stop after this many evaluations in a row without improvement; 0: never",
            Field::Effect::result);
  f.path("load", load,
         "run or .safetensors file to load initial weights from; of a run, the vocabulary, too; "
         "empty: none");
  f.texts("load_names", load_names, "patterns (* and ?) of the parameters to load from `load`")
      .when(!load.empty());
  f.choice(
      "new_tokens", new_tokens, new_tokens_names,
      "tokens of the data that the vocabulary of data.vocabulary or `load` lacks: refuse them, "
      "read them as <unk>, or add them, with initial weights as without `load`");
  f.texts("freeze", freeze, "patterns (* and ?) of the parameters that are not trained");
  f.flag("detect_anomaly", detect_anomaly,
         "stop at the first operation whose result is not finite, and name it; slow",
         Field::Effect::none);
  f.integer(
      "rank_timeout", rank_timeout, {0, 1e6},
      "with mpirun: seconds after which all processes end if one of them is stopped or cannot "
      "be reached; 0: wait forever",
      Field::Effect::none);
}

bool TrainOptions::evaluates_at(int64_t step) const {
  if (evaluate_every == 0) return false;
  if (evaluate_factor == 1) return step % evaluate_every == 0;
  constexpr double slack = 1e-12;  // ⌈1.1 · 100⌉ is 110, although 1.1 is a little more in binary
  int64_t next = evaluate_every;
  while (next < step)
    next = std::max(next + 1, static_cast<int64_t>(std::ceil(static_cast<double>(next) *
                                                             evaluate_factor * (1 - slack))));
  return next == step;
}

void TrainOptions::validate() const {
  check_input(std::has_single_bit(static_cast<uint64_t>(shards)) && batch_size % shards == 0,
              "`train.shards` = {}: expected a power of two that divides `train.batch_size` = {}",
              shards, batch_size);
}

void Experiment::fields(Fields& f) {
  f.integer("seed", seed, {0, 9e15},
            "seed of initial weights, order of examples, dropout and samples");
  f.integer("threads", threads, {0, 1024},
            "number of threads; 0: OMP_NUM_THREADS, or one for each physical core; results do not "
            "depend on it",
            Field::Effect::none);
  f.choice(
      "precision", precision, precision_names,
      "precision of matrix products; high and medium use bfloat16 if the processor supports it");
  f.section("train", train, "the training loop", [&](std::string_view key) {
    return key != "new_tokens" || !train.load.empty() || !data.vocabulary.empty();
  });
  f.section("model", model, "the model");
  f.section("optim", optim, "the optimizer",
            [&](std::string_view key) { return key != "lr" || !schedule.replaces_peak(); });
  f.section("schedule", schedule, "the learning rate of each step");
  f.section("data", data, "the data", [&](std::string_view key) { return data.kind->uses(key); });
}

// Checks that the data offer the score that decides, and that there is at most one average.
static void check_evaluation(const Experiment& e) {
  const auto has = [&](const Score& score) {
    Experiment decided = e;
    decided.train.best_by = &score;
    return score.offered(decided);
  };
  check_input(has(*e.train.best_by),
              "`train.best_by` = \"{}\": `data.kind` = \"{}\" has no such score; choose one of {}",
              e.train.best_by->name, e.data.kind->name, names_where(scores::all, has));
  const int64_t n = e.train.average_checkpoints;
  check_input(
      n == 1 || e.optim.ema == 0,
      "`train.average_checkpoints` = {} and `optim.ema` = {} exclude each other: set one of them",
      n, e.optim.ema);
  check_input(n == 1 || e.train.average_every() > 0,
              "`train.average_checkpoints` = {} needs `train.checkpoint_every`, the steps between "
              "the checkpoints that it averages",
              n);
}

void Experiment::validate() const {
  train.validate();
  in_section("model", [&] { model.validate(); });
  in_section("optim", [&] { optim.kind->check(optim); });
  in_section("data", [&] { check_options(data, model.kind); });
  check_evaluation(*this);
  in_section("schedule", [&] { schedule.validate(optim.lr); });
}

void Experiment::take_all_examples(const Corpus& corpus) {
  if (train.batch_size > 0) return;
  const int64_t examples = corpus.splits.at("train").size;
  check_input(examples < unlimited,
              "`train.batch_size` = 0 takes all training examples, but `data.kind` = \"{}\" draws "
              "them without an end: set `data.train_size`, or the batch size",
              data.kind->name);
  check_input(examples <= max_batch_size,
              "`train.batch_size` = 0 takes all {} training examples, a batch at most {}: set it",
              examples, max_batch_size);
  check_input(data.bucketing == 1,
              "`data.bucketing` = {} sorts the examples of several batches, but with "
              "`train.batch_size` = 0 each batch has all: set it to 1",
              data.bucketing);
  train.batch_size = examples;
  train.validate();
}

std::string with_keys(std::string_view text, const std::string& section) {
  // Arguments that come from another section, or have another name there.
  static const std::map<std::string, std::string> others = {
      {"framing", "model.kind"}, {"peak", "optim.lr"}, {"new_tokens", "train.new_tokens"}};
  static const ConfigListing keys = list_config(Experiment());
  return replace_names(text, [&](const std::string& name) {
    const auto other = others.find(name);
    const std::string key = other != others.end() ? other->second : section + '.' + name;
    if (find_entry(keys, key)) return '`' + key + '`';
    // In a section inside: "length" of "model.block.length".
    const auto inside = std::ranges::find_if(keys, [&](const ConfigEntry& entry) {
      return entry.name == name && entry.section.starts_with(section + '.');
    });
    return '`' + (inside != keys.end() ? inside->key : name) + '`';
  });
}

// Checks that the data have the edges, the grid or the sequence that the model needs.
static void check_form(const ModelOptions& model, const Corpus& corpus) {
  const MultiHeadAttentionOptions& attention = model.attention;
  check_input(!model.mixing.kind->needs_edges || corpus.format.has_edges,
              "`model.block.mixing` = \"{}\" needs data with edges: `data.kind` = \"graph\"",
              model.mixing.kind->name);
  check_input(
      attention.graph_distances == 0 || corpus.format.has_edges,
      "`model.attention.graph_distances` = {} needs data with edges: `data.kind` = \"graph\"",
      attention.graph_distances);
  const auto axes = static_cast<int64_t>(corpus.grid.size());
  const std::string known = axes == 0 ? "data with a grid" : fmt::format("axes 0 … {}", axes - 1);
  const auto check_axes = [&](const char* key, const std::vector<int64_t>& chosen) {
    for (const int64_t axis : chosen)
      check_input(axis < axes, "`model.{}`: expected {}, found axis {}", key, known, axis);
  };
  check_axes("attention.axes", attention.axes);
  check_axes("block.circular_axes", model.mixing.circular_axes);
  const PositionalRule& position = *model.positional.kind;
  check_input(!position.acts_in_attention() || axes == 0 || attention.axes.size() == 1,
              "`model.positional.kind` = \"{}\" needs positions in a row, but the data are a grid: "
              "attend over one axis with `model.attention.axes`, or use one of {}",
              position.name, names_where(positional_encodings::all, &PositionalRule::is_vector));
  check_input(
      !position.acts_in_attention() || !corpus.format.position_ids,
      "`model.positional.kind` = \"{}\" counts positions in a row, but the data name their own "
      "(\"positions\"): use one of none, {}",
      position.name, names_where(positional_encodings::all, &PositionalRule::is_vector));
  if (corpus.framing != ModelKind::classifier) return;
  const bool at_positions = corpus.format.at_positions;
  check_input(at_positions == has_many_targets(model.pool),
              "`model.pool` = \"none\" is for data with a target at every position, and {}",
              at_positions ? "these have one: set it" : "these have one for the whole example");
}

void check_longest(const ModelOptions& model, const Corpus& corpus, int64_t longest) {
  const bool grid_tables = !corpus.grid.empty() && corpus.framing == ModelKind::classifier;
  const PositionalRule& position = *model.positional.kind;
  const int64_t positions =  // the tables of a grid have one for each index along an axis
      grid_tables ? *std::max_element(corpus.grid.begin(), corpus.grid.end()) : longest;
  check_input(!position.is_limited || (grid_tables && position.is_learned) ||
                  model.positional.max_length >= positions,
              "`model.positional.max_length` = {} is too small: the longest sequence of the data "
              "has {} tokens",
              model.positional.max_length, positions);
  check_input(
      model.mixing.kind != &mixings::dense || model.mixing.length >= longest,
      "`model.block.length` = {} is too small: the longest sequence of the data has {} tokens",
      model.mixing.length, longest);
}

ModelSizes model_sizes(const Experiment& experiment, const Corpus& corpus) {
  check_form(experiment.model, corpus);
  check_longest(experiment.model, corpus,
                std::max({corpus.longest_source, corpus.longest_input, corpus.last_position + 1}));
  ModelSizes sizes;
  if (corpus.source) sizes.source_vocabulary = corpus.source->vocabulary().size();
  const bool is_classifier = corpus.framing == ModelKind::classifier;
  const bool numbers = corpus.format.numbers, vectors = corpus.format.features > 0;
  const Score& best_by = *experiment.train.best_by;
  check_input(numbers ? best_by.of_numbers : best_by.of_tokens,
              "`train.best_by` = \"{}\": targets that are {} have no such score; choose one of {}",
              best_by.name, numbers ? "numbers" : "tokens",
              names_where(scores::all, numbers ? &Score::of_numbers : &Score::of_tokens));
  const bool has_own_head = numbers || (vectors && corpus.framing == ModelKind::language_model);
  sizes.vocabulary =
      is_classifier || has_own_head ? sizes.source_vocabulary : corpus.target->vocabulary().size();
  sizes.classes = numbers        ? 1
                  : has_own_head ? corpus.target->vocabulary().size()
                                 : std::ssize(corpus.labels);
  sizes.features = corpus.format.features;
  sizes.two_sources = corpus.format.two_sources;
  sizes.grid = corpus.grid;
  sizes.edge_features = corpus.format.edge_features;
  sizes.global = corpus.format.global;
  check_input(!experiment.model.share_embeddings || corpus.source == corpus.target,
              "`model.share_embeddings` = true needs one vocabulary for both sides: set "
              "`data.share_vocabulary` = true");
  return sizes;
}

std::unique_ptr<Model> make_model(const Experiment& experiment, const Corpus& corpus) {
  const ModelSizes sizes = model_sizes(experiment, corpus);
  return in_section("model", [&] { return make_model(experiment.model, sizes); });
}

}  // namespace heed
