#include "lab/claims/claim.h"

#include <algorithm>

#include "core/check.h"
#include "core/inference_scope.h"
#include "core/joined.h"
#include "core/precision.h"
#include "core/suggest.h"
#include "core/text.h"

namespace heed::claims {
namespace {

bool contains(const std::vector<std::string>& ids, const std::string& id) {
  return std::ranges::find(ids, id) != ids.end();
}

// Throws InputError unless each id is that of a claim.
void check_ids(const std::vector<std::string>& only, const std::vector<Topic>& topics) {
  std::vector<std::string> ids;
  for (const Topic& topic : topics)
    for (const Claim& claim : topic.claims)
      if (!contains(ids, claim.id)) ids.push_back(claim.id);
  for (const std::string& id : only)
    check_input(contains(ids, id), "--only {}: there is no such row{}; the rows are {}",
                shortened(id), did_you_mean(id, ids), joined(ids));
}

}  // namespace

std::vector<Topic> all_topics() {
  return {{"What attention is", topics::attention},
          {"The scale, and other uses of attention", topics::scale},
          {"Heads and grids", topics::heads},
          {"Permutations", topics::permutations},
          {"Worked examples", topics::examples},
          {"Positions", topics::positions},
          {"Costs", topics::costs, topics::notes_of_costs},
          {"Other layers, stacks and graphs", topics::layers},
          {"Mistakes of S0 and S3", topics::mistakes_s0_s3},
          {"Mistakes of S1, S2 and S4", topics::mistakes_s1_s2_s4}};
}

std::vector<Topic> measured(std::vector<Topic> topics, uint64_t seed,
                            const std::vector<std::string>& only) {
  check_ids(only, topics);
  const auto is_left_out = [&](const auto& row) {
    return !only.empty() && !contains(only, row.id);
  };
  uint32_t position = 0;
  for (Topic& topic : topics) {
    for (Claim& claim : topic.claims) {
      const InferenceScope here;
      here->precision = Precision::highest;
      here->seed = seed;
      here->micro_batch = position++;
      here->calls = 0;
      if (!is_left_out(claim)) claim.measured = claim.measure();
    }
    std::erase_if(topic.claims, is_left_out);
    std::erase_if(topic.notes, is_left_out);
  }
  std::erase_if(topics, [](const Topic& topic) { return topic.claims.empty(); });
  return topics;
}

bool all_hold(const std::vector<Topic>& topics) {
  return std::ranges::none_of(
      topics, [](const Topic& topic) { return std::ranges::any_of(topic.claims, &Claim::fails); });
}

}  // namespace heed::claims
