// Direct logit attribution (Elhage et al. 2021, "A Mathematical Framework for Transformer
// Circuits"): which parts of a model write the difference between the logits of two tokens.
//
//   x = Σ c over the parts,  value of a part = ((c - mean c) ∘ γ / s) · (U_t - U_u)
//
// s is the final norm's scale of the whole stream at that position; RMSNorm subtracts no mean.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/support/json.h"
#include "apps/support/table.h"
#include "lab/inspect/inspected.h"

namespace heed {

struct Attribution {
  struct Part {
    std::string name;
    double value = 0;
  };
  std::vector<Part> parts;  // add up to the difference
  double difference = 0;    // logit(token) - logit(other)
  int64_t token_id = 0, other_id = 0;
  std::string token, other;
  std::optional<int64_t> position = {};  // none for a classifier

  // Returns {"rows": [{"part", "value"}, …], "difference", "token", "other", "ids", "position"}.
  Json json() const;
  // The largest contributions come first.
  Table table() const;
};
// Computes the parts for the last target of an example. By default `token` is the target and
// `other` the most likely other token. Throws InputError for an example or token that does not
// exist, for a stream that is no sum (why_no_sum()), and for a classifier that pools by learned
// queries.
Attribution attribute(const Inspected& inspected, int64_t example = 0,
                      std::optional<int64_t> token = {}, std::optional<int64_t> other = {});

}  // namespace heed
