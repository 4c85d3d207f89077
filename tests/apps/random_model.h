// An untrained model of six tokens, for tests of what models generate.
#pragma once

#include "apps/inference/generation.h"
#include "core/scope.h"

namespace heed {

inline const Vocabulary letters({"a", "b", "c", "d", "<bos>", "<eos>"});

// Random weights with a large gain, so that the model has clear preferences.
template <class M>
M random_model(ModelKind kind, uint64_t seed) {
  ScopeGuard here;
  here->seed = seed;
  here->calls = 0;
  ModelOptions o;
  o.kind = kind;
  o.layers = 1;
  o.dim = 16;
  o.heads = 2;
  o.tie_weights = false;
  o.init.gain = 3;
  return M(o, {6, 6, 3});
}

}  // namespace heed
