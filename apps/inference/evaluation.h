// How well a model does on a dataset.
#pragma once

#include "data/batch.h"
#include "nn/models.h"

namespace heed {

// What the model reads of a batch.
Inputs inputs_of(const Batch& batch);

struct Scores {
  double loss = 0;        // mean over targets of -log p(target), in nats; without label smoothing
  double perplexity = 0;  // e^loss
  double token_accuracy = 0;  // share of targets that are the model's first choice
  // Share of examples all of whose targets are. That is greedy search's exact match, without
  // searching: it says what is expected if and only if the first choice is right each time, given
  // what is right.
  double exact_match = 0;
  int64_t examples = 0, targets = 0;
};

// Every example of the dataset once, without dropout. Changes nothing that training depends on.
Scores evaluate(const Model& model, const Dataset& dataset, Framing framing, int64_t batch_size);

}  // namespace heed
