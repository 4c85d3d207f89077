// Makes the views of `heed inspect` available as train.measures (apps/training/measures.h). A row
// of metrics.jsonl then has the same numbers. Layers and heads count from 0.
//
//   heads.LAYER.HEAD.SCORE      lab/inspect/heads.h: heads.1.0.induction
//   heads.SCORE                 the largest over all heads
//   heads.LAYER.HEAD.LAYER.HEAD.q_composition   also k and v: of a head and one of a later layer;
//                               left out if there are more than 256 pairs
//   heads.q_composition         the largest over all pairs
//   heads.induction_loss, heads.in_context_score  of a language model
//   ablate.LAYER.HEAD.delta     lab/inspect/ablate.h, with the mean: also accuracy_delta
//   ablate.LAYER.SUBLAYER.delta, ablate.LAYER.delta, ablate.position.T.delta
//   ablate.delta                the largest over all heads
//   ablate.loss, ablate.accuracy  of the whole model
//   lens.LAYER.loss             lab/inspect/lens.h: also accuracy, entropy and kl
//   lens.embedding.loss
//
// An encoder-decoder has encoder, decoder and cross in front of LAYER: heads.cross.1.0.entropy.
#pragma once

#include "lab/experiments/score_kinds.h"  // inspect_measures
