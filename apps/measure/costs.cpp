#include "apps/measure/costs.h"

#include <algorithm>
#include <limits>

#include "core/kernels/linear.h"
#include "core/ops.h"

namespace heed {

StepSizes step_sizes(const Experiment& experiment, const Corpus& corpus) {
  const TrainOptions& train = experiment.train;
  int64_t longest_split = 0;
  for (const auto& [name, split] : corpus.splits)
    if (name != "train") longest_split = std::max(longest_split, split->size());
  const int64_t wanted = train.evaluate_batch_size ? train.evaluate_batch_size : train.batch_size;
  return {train.batch_size, train.accumulate, corpus.longest_source, corpus.longest_input,
          std::min(wanted, longest_split)};
}

Flops& Flops::operator+=(const Flops& other) {
  forward += other.forward;
  backward += other.backward;
  return *this;
}

Flops linear_flops(double rows, double weight_size, bool trains) {
  const double product = 2 * rows * weight_size;
  return {product, trains ? 2 * product : product};
}

Flops attention_flops(double examples, double queries, double keys, double key_width,
                      double value_width) {
  const double pairs = 2 * examples * queries * keys;
  return {pairs * (key_width + value_width), pairs * (3 * key_width + 2 * value_width)};
}

double Memory::lasting() const {
  return std::max(parameters + gradients + optimizer, parameters + 2 * gradients);
}

double Memory::peak() const {
  const double training = std::max(activations + backward, evaluation);
  return std::max(lasting(), parameters + gradients + optimizer + batches + training);
}

namespace {

// Elements of optimizer state for each trained parameter.
double optimizer_state(const OptimOptions& optim) {
  return static_cast<double>(optim.kind->state(optim).size());
}

// The widths of a stack of layers.
struct Widths {
  double dim, hidden;   // D, F
  double keys, values;  // of all heads together

  Widths(const ModelOptions& m, int64_t width)
      : dim(static_cast<double>(width)),
        hidden(static_cast<double>(m.feed_forward ? m.feed_forward : 4 * width)),
        keys(dim),
        values(dim) {
    if (m.mixing.kind != &mixings::attention && m.kind != ModelKind::seq2seq) return;
    const HeadWidths heads = m.attention.widths(width, m.heads);
    keys = static_cast<double>(heads.keys());
    values = static_cast<double>(heads.values());
  }
};

// Numbers that are alive during a micro-batch. An operation keeps what its backward reads
// (core/ops); what two of them read, say a linear layer and the norm before it, is there once.
class Activations {
 public:
  Activations(const ModelOptions& m, const ModelSizes& sizes, const StepSizes& step)
      : model_(m),
        batch_(static_cast<double>(step.batch)),
        own_(m, m.dim),
        encoder_(m, m.encoder_dim ? m.encoder_dim : m.dim),
        composed_(!m.attention.is_fused() || m.positional.kind == &positional_encodings::alibi ||
                  m.positional.kind == &positional_encodings::relative),
        source_(batch_ * static_cast<double>(step.source)),
        input_(batch_ * static_cast<double>(step.input)),
        logits_(m.kind == ModelKind::classifier ? batch_ * static_cast<double>(sizes.classes)
                                                : input_ * static_cast<double>(sizes.vocabulary)),
        kept_logits_(std::min(logits_, static_cast<double>(logits_at_once))) {}

  // For backward.
  double kept() const {
    const auto layers = static_cast<double>(model_.layers);
    const double own = mixing(own_, input_) + feed_forward(own_, input_);
    const double end = end_of_stack(own_, input_);
    if (model_.kind == ModelKind::language_model)
      return layers * own + end + own_.dim * input_ + kept_logits_;
    if (model_.kind == ModelKind::classifier)
      return layers * own + end + input_ + batch_ * own_.dim + kept_logits_;
    const auto decoder_layers =
        static_cast<double>(model_.decoder_layers ? model_.decoder_layers : model_.layers);
    return layers * (mixing(encoder_, source_) + feed_forward(encoder_, source_)) +
           end_of_stack(encoder_, source_) + encoder_.dim * source_ +
           decoder_layers * (own + attention(own_, input_, source_)) + end + own_.dim * input_ +
           kept_logits_;
  }

  // Gradients of activations, when the logits are gone: those around the last feed-forward network,
  // less what it no longer needs, and what its weights' are made of.
  double backward() const {
    const bool two = model_.activation == swiglu ||
                     (model_.activation == Activation::relu && model_.dropout == 0);
    const auto layer = [&](const Widths& w, double rows) {
      const kernels::LinearSizes up{static_cast<int64_t>(rows), static_cast<int64_t>(w.dim),
                                    static_cast<int64_t>(w.hidden)};
      return (3 * w.dim + (two ? 2 : 1) * w.hidden) * rows +
             static_cast<double>(kernels::linear_backward_scratch(up, Activation::none));
    };
    return std::max({layer(own_, input_) - kept_logits_, layer(encoder_, source_),
                     scores(own_, std::max(source_, input_))});
  }

  // Without backward: the memory, and a layer at work or the logits.
  double unkept() const {
    const double arrays = model_.activation == swiglu ? 3 : 2;
    const auto layer = [&](const Widths& w, double rows) {
      return std::max(8 * w.dim, 3 * w.dim + arrays * w.hidden) * rows + scores(w, rows);
    };
    return encoder_.dim * source_ +
           std::max({layer(encoder_, source_), layer(own_, input_), own_.dim * input_ + logits_});
  }

  // The table of sinusoids or integers, made twice as long as needed.
  double positions() const {
    const PositionalRule* kind = model_.positional.kind;
    const bool table =
        kind == &positional_encodings::sinusoidal || kind == &positional_encodings::integer;
    if (!table || batch_ == 0) return 0;
    return 2 * (encoder_.dim * source_ + own_.dim * input_) / batch_;
  }

 private:
  // Mean and deviation of each row, or the latter alone.
  double norm(double rows) const { return (model_.norm.kind == NormKind::layer ? 2 : 1) * rows; }

  // What the norm reads, what the matrices read; queries, keys, values, the heads' output and the
  // sum of each head's softmax. Attention that is composed holds its heads apart as well, and all
  // weights.
  double attention(const Widths& w, double rows, double key_rows) const {
    const auto heads = static_cast<double>(model_.heads);
    const double once =
        norm(rows) + (2 * w.dim + w.keys + w.values) * rows + (w.keys + w.values) * key_rows;
    if (!composed_) return once + heads * rows;
    return once + (w.keys + w.values) * rows + (2 * w.keys + w.values) * key_rows +
           scores(w, key_rows);
  }

  // Two arrays of a score for every query, key and head, where they are held at all; with the
  // additive similarity one as wide as the keys too.
  double scores(const Widths& w, double rows) const {
    if (!composed_ || batch_ == 0) return 0;
    const auto heads = static_cast<double>(model_.heads);
    const bool additive = model_.attention.similarity.kind == &similarities::additive;
    return (2 * heads + (additive ? w.keys : 0)) * std::max(source_, input_) * rows / batch_;
  }

  // What a layer keeps before its feed-forward network. A graph's edges are not counted.
  double mixing(const Widths& w, double rows) const {
    const double read = norm(rows) + 2 * w.dim * rows;
    const MixingRule* kind = model_.mixing.kind;
    if (kind == &mixings::attention) return attention(w, rows, rows);
    if (kind == &mixings::graph_attention) return read + 4 * w.dim * rows;
    if (kind == &mixings::dense) return read + 2 * w.dim * rows;
    if (kind == &mixings::convolution)  // all neighbours, and those inside the sequence
      return read + 2 * static_cast<double>(model_.mixing.kernel_size) * w.dim * rows;
    if (kind == &mixings::gru)  // three gates of the input, three of the state, and the results
      return read + 14 * w.dim * rows;
    throw Error("costs: unknown mixing");
  }

  // What the norm reads, what W₁ reads, and hidden arrays: what φ reads (relu's derivative is told
  // from its result), what W₂ reads; swiglu's two factors besides. Dropout draws its mask again,
  // but then what W₂ reads is no longer relu's result.
  double feed_forward(const Widths& w, double rows) const {
    double arrays = 2;
    if (model_.activation == Activation::relu) arrays = model_.dropout > 0 ? 2 : 1;
    if (model_.activation == swiglu) arrays = 4;
    return norm(rows) + (2 * w.dim + arrays * w.hidden) * rows;
  }

  // What the norm behind the layers reads.
  double end_of_stack(const Widths& w, double rows) const {
    return model_.has_final_norm() ? norm(rows) + w.dim * rows : 0;
  }

  const ModelOptions& model_;
  double batch_;
  Widths own_, encoder_;   // of seq2seq's decoder, or the only stack; of its encoder
  bool composed_;          // attention holds its scores
  double source_, input_;  // rows: B · Ts, B · T
  double logits_;          // of an evaluation
  double kept_logits_;     // or rather their gradients, of as many as the loss takes at once
};

}  // namespace

Memory memory_of(const Experiment& experiment, const ModelSizes& sizes, const StepSizes& step,
                 int64_t parameters, int64_t trained) {
  const ModelOptions& model = experiment.model;
  const Activations training(model, sizes, step);
  StepSizes evaluation_step = step;
  evaluation_step.batch = step.evaluation_batch;
  const Activations evaluation(model, sizes, evaluation_step);
  // Inputs, targets and sources; those of a step, and those that are sorted by length.
  const double ids = static_cast<double>(step.batch) *
                     static_cast<double>(2 * step.input + step.source) *
                     static_cast<double>(step.micro_batches + experiment.data.bucketing);
  Memory bytes;
  bytes.parameters = sizeof(real) * static_cast<double>(parameters);
  bytes.gradients = sizeof(real) * static_cast<double>(trained);
  bytes.optimizer = bytes.gradients * optimizer_state(experiment.optim);
  bytes.batches = sizeof(int32_t) * ids;
  bytes.activations = sizeof(real) * (training.kept() + training.positions());
  bytes.backward = sizeof(real) * training.backward();
  bytes.evaluation = sizeof(real) * (evaluation.unkept() + evaluation.positions());
  return bytes;
}

}  // namespace heed
