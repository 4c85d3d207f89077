// A model in training on a generated task, made from the text of a config: what the page of the
// playground shows. The model, the data and the training step are those of `heed train`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apps/config/config.h"
#include "apps/support/json.h"
#include "apps/training/trainer.h"
#include "data/corpus.h"
#include "lab/inspect/inspected.h"

namespace heed {

class PlaygroundSession {
 public:
  // Parses a config as `heed train` does, and makes its data and its model. Throws InputError for
  // what the parser rejects, for a config that reads files, and for a model that is too large for
  // a page. `mistake`: see course/playground/mistakes.h; "" for none.
  explicit PlaygroundSession(std::string_view toml, std::string_view mistake = "");

  // {"config": "…", "values": {"model.layers": "2", …}, "parameters": [{"name", "shape"}, …], …}:
  // the keys that differ from their defaults, as a file and one by one, and what the page needs to
  // know about model and data. "unused" are the keys that change nothing. "guess" is
  // the validation loss of a model that knows only how often each target occurs.
  Json summary() const;

  // Updates the weights. Throws Error if the loss is not finite.
  double step() { return trainer_.step().loss; }
  int64_t steps_done() const { return trainer_.steps_done(); }

  // {"loss", "exact_match"} of the validation split.
  Json scores();
  // [{"source", "predicted", "expected"}, …] of the first examples of the validation split; of
  // images and videos also their "pixels". `without`: see trace().
  Json predictions(int64_t count, const std::string& without = "");
  // One example on its way through the model: a text, or, if it is empty, example `example` of the
  // validation split. Returns what trace() of lab/inspect/trace.h does, with 12 logits, or all if
  // there are at most 16, and besides
  //
  //   typed    whether it is a text, whose targets are those that the model generates
  //   residual whether sublayers add to the stream; otherwise they replace it
  //   maps     [{"name", "heads", "queries", "keys", "rows", "columns", "scale", "signed",
  //            "weights"}, …]: queries and keys are labels, rows and columns their numbers, and
  //            weights those of attention_bytes()
  //   vectors  [{"stage", "token", "position"}, …]: the first 8 numbers at each position of what
  //            an embedding adds up; without "position" if positions are not added
  //   units    [{"stage", "values"}, …]: what the hidden units of a feed-forward network give at
  //            `position`, or at the last one
  //   pixels, grid, edges   of features: [[red, green, blue], …] of bytes, the shape of the image
  //            or the video, [[from, to], …]; each only where there are such
  //
  // The output of the part `without` is 0: a name of lab/inspect/ablate.h of a head or a sublayer,
  // or "". Throws InputError for a text that the model cannot read, an example that does not
  // exist, and a part that cannot be left out.
  Json trace(const std::string& text, int64_t example, int64_t position,
             const std::string& without = "");
  // head_scores() of lab/inspect/heads.h on the first 64 validation examples, without composition.
  Json heads();
  // How much worse the validation split is without a part, with 0 in its place: {"loss", "delta",
  // "interval", "exact_match"}; see lab/inspect/ablate.h.
  Json ablate(const std::string& part);
  // What the model knows of positions: see course/playground/positions.h.
  Json positions() const;

  // All parameters one after the other, in the order of the summary. The spans must have
  // weight_count() elements. set_weights() does not change the state of the optimizer.
  int64_t weight_count() const;
  void weights(std::span<real> to) const;
  void set_weights(std::span<const real> from);

 private:
  struct Settings {
    Experiment experiment;
    Origins origins;
  };
  static Settings read(std::string_view toml, std::string_view mistake);
  Inspected inspected(const Dataset& examples, int64_t batch_size) const;

  Settings settings_;
  Corpus corpus_;
  Trainer trainer_;
};

// [{"key", "type", "value", "allowed", "help"}, …]: every key of a config with its default.
Json playground_keys();

}  // namespace heed
