#include "course/playground/mistakes.h"

#include "core/check.h"
#include "core/ops.h"
#include "core/text.h"

namespace heed {
namespace {

const NormaliserRule no_causal_mask = {
    .name = "softmax without the causal mask",
    .weights = [](const Tensor& scores, const KeepMask& mask, const MultiHeadAttentionOptions&) {
      KeepMask left = mask;
      left.causal = false;
      return softmax(masked_scores(scores, left));
    }};

const NormaliserRule wrong_axis = {
    .name = "softmax over the queries",
    .weights = [](const Tensor& scores, const KeepMask& mask, const MultiHeadAttentionOptions&) {
      return transpose(softmax(transpose(masked_scores(scores, mask), -1, -2)), -1, -2);
    }};

}  // namespace

void make_mistake(std::string_view name, Experiment& experiment) {
  ModelOptions& model = experiment.model;
  check_input(name == "no_causal_mask" || name == "wrong_axis", "there is no mistake named {}",
              in_quotes(name));
  check_input(
      is_softmax(model.attention),
      "`model.attention.normaliser` = \"{}\": this mistake is one of the softmax; set \"softmax\"",
      model.attention.normaliser->name);
  if (name == "no_causal_mask")
    check_input(model.kind != ModelKind::classifier || model.attention.causal,
                "`model.kind` = \"classifier\" has no causal mask to leave out: choose a task that "
                "generates, such as sort");
  model.attention.normaliser = name == "wrong_axis" ? &wrong_axis : &no_causal_mask;
}

}  // namespace heed
