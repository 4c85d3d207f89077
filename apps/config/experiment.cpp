#include "apps/config/experiment.h"

#include <fmt/format.h>

#include <algorithm>

namespace heed {

void TrainOptions::fields(Fields& f) {
  static constexpr const char* measures[] = {"loss", "token_accuracy", "exact_match"};
  static constexpr const char* smoothings[] = {"vocabulary", "others", "possible_others"};
  constexpr Range count{0, 1e12}, positive{1, 1e12};
  f.integer("steps", steps, positive, "updates of the weights");
  f.integer("batch_size", batch_size, {1, 1e6}, "examples in a micro-batch");
  f.integer("accumulate", accumulate, {1, 1e6},
            "micro-batches in a step; the gradient is that of one batch of all their examples");
  f.number("label_smoothing", label_smoothing, {0, 0.99},
           "share ε of a target's probability that is spread over other classes");
  f.choice("label_smoothing_over", label_smoothing_over, smoothings,
           "who gets it: all V classes ε/V (PyTorch), all but the target ε/(V-1), or of these all "
           "that can be a target, not <bos>: ε/(V-2) (The Annotated Transformer)");
  f.integer("evaluate_every", evaluate_every, count,
            "steps between evaluations; 0: at the end alone");
  f.integer("evaluate_batch_size", evaluate_batch_size, count,
            "examples in a batch of an evaluation; 0: as many as in training");
  f.integer("checkpoint_every", checkpoint_every, count,
            "steps between checkpoints; 0: at evaluations and the end alone");
  f.integer("keep_checkpoints", keep_checkpoints, positive,
            "newest checkpoints to keep, beside the best one");
  f.integer("log_every", log_every, positive, "steps between lines of the log");
  f.integer("samples", samples, {0, 100}, "predictions shown at each evaluation");
  f.choice("best_by", best_by, measures,
           "what makes a checkpoint the best, on the validation split");
  f.integer("patience", patience, count,
            "stop after so many evaluations in a row without a better one; 0: never");
  f.path("load", load, "run or .safetensors file to take initial weights from; empty: none");
  f.texts("load_names", load_names, "patterns (* and ?) of the parameters to take from `load`");
  f.texts("freeze", freeze, "patterns (* and ?) of the parameters that do not train");
  f.flag("detect_anomaly", detect_anomaly,
         "stop at the first operation whose result is not finite and name it; slow");
}

void Experiment::fields(Fields& f) {
  f.integer("seed", seed, {0, 9e15}, "of initial weights, order of examples, dropout and samples");
  f.integer("threads", threads, {0, 1024},
            "0: the physical cores this process may use; results do not depend on it");
  f.choice("precision", precision, precision_names,
           "of float32 products; high and medium allow bfloat16 where the processor has a kernel "
           "for it");
  f.section("train", train, "the training loop");
  f.section("model", model, "what is trained");
  f.section("optim", optim, "how gradients become updates");
  f.section("schedule", schedule, "the learning rate of each step");
  f.section("data", data, "what it is trained on");
}

void Experiment::validate() const {
  model.validate();
  optim.validate();
  check_options(data, framing());
  make_schedule(schedule, optim.lr, train.steps);
}

Framing Experiment::framing() const {
  switch (model.kind) {
    case ModelKind::seq2seq:
      return Framing::seq2seq;
    case ModelKind::language_model:
      return Framing::language_model;
    case ModelKind::classifier:
      return Framing::classifier;
  }
  throw Error("model: unknown kind");
}

namespace {

// What the data must have for the model to make sense of it.
void check_form(const ModelOptions& model, const Corpus& corpus) {
  const MultiHeadOptions& attention = model.attention;
  check_input(model.block.kind != MixingKind::graph_attention || corpus.format.has_edges,
              "model.block.mixing = \"graph_attention\" needs data with edges: data.kind = "
              "\"graph\"");
  check_input(attention.graph_distances == 0 || corpus.format.has_edges,
              "model.attention.graph_distances = {} needs data with edges: data.kind = \"graph\"",
              attention.graph_distances);
  const auto axes = static_cast<int64_t>(corpus.grid.size());
  const std::string known = axes == 0 ? "no grid" : fmt::format("{} axes, from 0", axes);
  for (const int64_t axis : attention.axes)
    check_input(axis < axes, "model.attention.axes names axis {}, and the data have {}", axis,
                known);
  const PositionalKind kind = model.positional.kind;
  const bool in_a_row = kind == PositionalKind::rotary || kind == PositionalKind::alibi ||
                        kind == PositionalKind::relative;
  check_input(
      !in_a_row || axes == 0 || attention.axes.size() == 1,
      "model.positional.kind: rotary, alibi and relative know places in a row, and the data "
      "are a grid: attend over one axis with model.attention.axes, or take sinusoidal or "
      "learned");
}

void check_longest(const ModelOptions& model, const Corpus& corpus) {
  const int64_t longest = std::max(corpus.longest_source, corpus.longest_input);
  const bool grid_tables = !corpus.grid.empty() && corpus.framing == Framing::classifier;
  check_input(
      model.positional.kind != PositionalKind::learned || grid_tables ||
          model.positional.max_length >= longest,
      "model.positional.max_length = {} is too small: the longest sequence of the data has {}",
      model.positional.max_length, longest);
  check_input(model.block.kind != MixingKind::dense || model.block.length >= longest,
              "model.block.length = {} is too small: the longest sequence of the data has {}",
              model.block.length, longest);
}

}  // namespace

ModelSizes model_sizes(const Experiment& experiment, const Corpus& corpus) {
  check_form(experiment.model, corpus);
  check_longest(experiment.model, corpus);
  ModelSizes sizes;
  if (corpus.source) sizes.source_vocabulary = corpus.source->vocabulary().size();
  if (corpus.framing == Framing::classifier)
    sizes.vocabulary = sizes.source_vocabulary;
  else
    sizes.vocabulary = corpus.target->vocabulary().size();
  sizes.classes = static_cast<int64_t>(corpus.labels.size());
  sizes.features = corpus.format.features;
  sizes.grid = corpus.grid;
  sizes.edge_features = corpus.format.edge_features;
  check_input(!experiment.model.share_embeddings || corpus.source == corpus.target,
              "model.share_embeddings = true needs one vocabulary for both sides: set "
              "data.share_vocabulary = true");
  return sizes;
}

}  // namespace heed
