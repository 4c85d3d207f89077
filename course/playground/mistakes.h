// Mistakes in attention that no key of a config makes: programming errors, each a normaliser of its
// own (nn/forms/normaliser.h) that replaces the softmax.
#pragma once

#include <string_view>

#include "apps/config/experiment.h"

namespace heed {

// Puts a mistake into the model of an experiment:
//
//   no_causal_mask   the softmax without the causal mask: a position attends to later ones
//   wrong_axis       the softmax over the queries: the columns of the weights add up to 1
//
// Throws InputError for another name, or for a model in which the mistake changes nothing.
void make_mistake(std::string_view name, Experiment& experiment);

}  // namespace heed
