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

namespace heed {

class PlaygroundSession {
 public:
  // Parses a config as `heed train` does, and makes its data and its model. Throws InputError for
  // what the parser rejects, for a config that reads files, and for a model that is too large for
  // a page. `mistake`: see course/playground/mistakes.h; "" for none.
  explicit PlaygroundSession(std::string_view toml, std::string_view mistake = "");

  // {"config": "…", "values": {"model.layers": "2", …}, "parameters": [{"name", "shape"}, …], …}:
  // the keys that differ from their defaults, as a file and one by one, and what the page needs to
  // know about model and data.
  Json summary() const;

  // Updates the weights. Throws Error if the loss is not finite.
  double step() { return trainer_.step().loss; }
  int64_t steps_done() const { return trainer_.steps_done(); }

  // {"loss", "token_accuracy", "exact_match"} of the validation split.
  Json scores();
  // [{"source", "predicted", "expected"}, …] of the first examples of the validation split.
  Json predictions(int64_t count);
  // The attention weights of all layers on a text, or, if it is empty, on the first example:
  // {"source", "target", "maps": [{"name", "heads", "rows", "columns", "scale", "signed",
  // "weights"}, …]}, where weights are those of attention_bytes(). Throws InputError for a text
  // that the model cannot read.
  Json attention(const std::string& text);
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
  const Dataset& shown_split() const;

  Settings settings_;
  Corpus corpus_;
  Trainer trainer_;
};

// [{"key", "type", "value", "allowed", "help"}, …]: every key of a config with its default.
Json playground_keys();

}  // namespace heed
