// Random inputs for a model, one example at a time, and changed copies of them.
#pragma once

#include "lab/claims/model.h"

namespace heed::claims {

// Returns whether the model reads the edges of a graph.
bool reads_edges(const ModelOptions& options);

class RandomInputs {
 public:
  // One example for the encoder or the only stack: the positions of the grid, or 12 and `padding`,
  // or as many of these as the model can read. The decoder of a seq2seq model reads 8 more. Throws
  // InputError for fewer than 3 positions without padding.
  explicit RandomInputs(const Subject& subject, int64_t padding = 0);

  const Inputs& inputs() const { return inputs_; }
  int64_t time() const { return time_; }

  // Position t holds position from[t]. Keeps the edges between these positions, which must be
  // different if there are edges.
  Inputs selected(const Ids& from) const;
  // Other values at the positions [first, last), of the encoder's or of the decoder's input.
  Inputs replaced(int64_t first, int64_t last) const;
  Inputs with_another_target(int64_t first, int64_t last) const;
  Inputs padded_after(int64_t length) const;  // later positions are padding and keep their values
  Inputs truncated(int64_t length) const;     // without the later positions

 private:
  Ids& tokens(Inputs& inputs) const;
  Ids& lengths(Inputs& inputs) const;
  int64_t vocabulary() const;
  std::shared_ptr<const Edges> selected_edges(const Ids& from) const;

  const Subject& subject_;
  int64_t time_;
  Inputs inputs_;
};

}  // namespace heed::claims
