// A real training with the library's models, layers and optimizer, to run with a function that a
// learner wrote in place of the library's.
//
// The model is a decoder that reverses sequences of digits. Its attention is composed of matmul,
// mul and softmax, its loss is cross_entropy of its logits, and it has layer norms: each of these
// may be the learner's. Everything is in double and on one thread, so that the losses are those
// with the library's own functions, up to the order in which the learner's function adds.
#pragma once

#include <vector>

#include "core/real.h"

namespace heed::inline HEED_REAL {
struct PositionalRule;
}

namespace heed::course {

inline constexpr int training_steps = 200;

// Trains with these positions and returns the mean loss of each step.
std::vector<double> train(const PositionalRule& positions);

// The exercises that replace a function of the library, each with positions that use it.
struct Training {
  const char* name;
  const PositionalRule* positions;
  const Training* next;
  static const Training* first;
  Training(const char* exercise, const PositionalRule& positions_);
};

}  // namespace heed::course

// HEED_TRAIN(NAME, positional_encodings::relative): after the exercise is passed, a training runs
// with the learner's function.
#define HEED_TRAIN(name, positions) \
  static const heed::course::Training training_of_##name(#name, positions)
