// Random inputs of a model's own kind, one example of them, and what a property changes in it.
#pragma once

#include "theorems/model.h"

namespace heed::theorems {

// Whether the model looks at the edges of a graph.
bool reads_edges(const ModelOptions& options);
// How many places an input has: those of its grid, or 12 where the model can read as many, with
// `spare` places more. Throws InputError where it can read fewer than 3.
int64_t places_of(const Subject& subject, int64_t spare);

class RandomInputs {
 public:
  // `time` places are what the encoder reads, or the only stack; seq2seq's decoder reads 8 more.
  RandomInputs(const Subject& subject, int64_t time);

  const Inputs& inputs() const { return inputs_; }
  int64_t time() const { return time_; }

  Inputs permuted(const Ids& order) const;             // place t holds what order[t] held
  Inputs replaced(int64_t first, int64_t last) const;  // other things at [first, last)
  Inputs with_another_target(int64_t first, int64_t last) const;  // the same of seq2seq's decoder
  Inputs all_alike() const;        // at each place what place 0 holds
  Inputs cut(int64_t real) const;  // the places from `real` on count as padding, and are as before
  Inputs short_of(int64_t real) const;  // these places are not there

 private:
  Ids& tokens(Inputs& inputs) const;
  Ids& lengths(Inputs& inputs) const;
  int64_t vocabulary() const;
  Inputs gathered(const Ids& from) const;

  const Subject& subject_;
  int64_t time_;
  Inputs inputs_;
};

}  // namespace heed::theorems
