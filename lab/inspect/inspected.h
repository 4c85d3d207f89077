// What all views of `heed inspect` have in common: a model, the examples that it reads, and taps
// (nn/tap.h) whose layers have their names.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "apps/support/json.h"
#include "data/batch.h"
#include "data/corpus.h"
#include "data/first_examples.h"
#include "nn/models.h"
#include "nn/tap.h"

namespace heed {

// A model and its examples. What it is made of must outlive it.
struct Inspected {
  Inspected(const Model& model, const ModelOptions& options, const Corpus& corpus,
            const Dataset& examples, int64_t batch_size);

  const Model& model;
  const ModelOptions& options;
  const Corpus& corpus;
  std::vector<Batch> batches;
  Batch one;                                             // of the first example
  std::unordered_map<const Module*, std::string> names;  // of the model's layers
  std::map<std::string, Tensor> parameters;              // of the model

  const std::string& name(const Module& layer) const;
  // The real positions of each example, for the layers of this name: those of the source in an
  // encoder of seq2seq, else those of the input.
  const Ids& lengths(const Batch& batch, const std::string& layer) const;
  // Throws InputError for targets that are numbers, which this view cannot show, and for a
  // classifier with a target at every position unless the view reads it.
  void check_names(const char* view, bool reads_positions = false) const;
  // Returns a token or class of the output as text.
  std::string token(int64_t id) const;
};

// A tap made of functions, which get the names of layers.
class NamedTap final : public Tap {
 public:
  using Wants = std::function<bool(const std::string& layer, Site site)>;
  using See = std::function<Tensor(const std::string& layer, Site site, const Tensor& value)>;
  NamedTap(const Inspected& inspected, Wants wants, See see)
      : inspected_(inspected), wants_(std::move(wants)), see_(std::move(see)) {}
  bool wants(const Module& layer, Site site) override {
    return wants_(inspected_.name(layer), site);
  }
  Tensor see(const Module& layer, Site site, const Tensor& value) override {
    return see_(inspected_.name(layer), site, value);
  }

 private:
  const Inspected& inspected_;
  Wants wants_;
  See see_;
};

// The losses of examples, summed over the targets of each.
struct ExampleLosses {
  std::vector<double> loss, targets, correct;                 // by example
  std::map<int64_t, std::pair<double, int64_t>> by_position;  // loss and number of the targets

  // logits (B, T, vocab), or (B, C) of a classifier
  void add(const Tensor& logits, const Batch& batch);
  double mean_loss() const;  // over all targets
  double accuracy() const;   // fraction of targets that are the most likely token; NaN: of numbers
  Json position_losses() const;  // [[position, mean loss], …]
};

// The losses of all examples, without gradients. Taps of the caller act.
ExampleLosses losses_of(const Inspected& inspected);

// A sublayer of a layer, in the order of computation.
struct Sublayer {
  std::string name;   // "decoder.layers.0.attention"
  std::string norm;   // of its residual connection, where taps see what it adds and the stream
  std::string layer;  // "decoder.layers.0"
  int64_t index = 0;  // of the layer in its stack
  int64_t heads = 0;  // 0: it has none
  // Of the value of a head, if all have one width and are products of matrices with the stream,
  // else 0.
  int64_t width = 0;
  std::vector<int64_t> columns;  // heads + 1: head h has [columns[h], columns[h + 1]) of z
  // Its output is the sum of what its heads add (Site::head_outputs) and perhaps of a bias.
  bool is_sum_of_heads = false;
};
inline bool is_cross(const std::string& name) { return name.ends_with("cross_attention"); }
// Found by computing the first example.
std::vector<Sublayer> sublayers_of(const Inspected& inspected);

// Where an example is in the batches. Throws InputError if there is no such example.
struct ChosenExample {
  const Batch* batch = nullptr;
  int64_t row = 0;
};
ChosenExample find_example(const Inspected& inspected, int64_t example);
// Returns the index in batch.target of the last target of a row; -1 if it has none.
int64_t last_target(const Batch& batch, int64_t row);

// "decoder", or "encoder" of a classifier: the stack whose stream the head reads.
std::string predicting_stack(const ModelOptions& options);
// Why the stream before the head is not the sum of the embedding and of what the sublayers write:
// "this model has …"; "" if it is.
std::string why_no_sum(const ModelOptions& options);
// The logits if the predicting stack ended with this stream (B, T, D): through the final norm, the
// pool of a classifier and the head.
Tensor logits_after(const Inspected& inspected, const Tensor& stream, const Batch& batch);

// A token or class of the output at one position.
struct PredictedToken {
  std::string token;
  double logit = 0, probability = 0;
};
using PredictedTokens = std::vector<PredictedToken>;
// Returns "a 0.52  b 0.31" for a table: as many tokens as fit `width` columns, each with one of its
// numbers, but at least the first, whose token is shortened if it must be.
std::string tokens_text(const PredictedTokens& tokens, double PredictedToken::*number,
                        size_t width);

// The layer that a name is in: 1 for "decoder.layers.1.attention"; -1: none.
int64_t layer_index(const std::string& name);

}  // namespace heed
