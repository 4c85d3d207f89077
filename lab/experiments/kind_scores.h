// Scores of finished runs that their folders do not have: of kinds of examples, or at positions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/inference/positions.h"
#include "lab/experiments/groups.h"

namespace heed {

struct KindRequest {
  std::string by = "";     // see Kinds (apps/inference/kinds.h); "": only the whole split
  std::string split = "";  // "": test, or val if there is no test
  std::optional<PositionRange> positions = {};  // of the targets that count

  bool evaluates() const { return !by.empty() || positions; }
};

// Evaluates the best checkpoint of every run that is done on a split of its data. Adds the loss of
// each kind, and the fraction of right examples, or of right targets by position, to its scores, as
// "test[12].exact_match", and their number, as "test[12].examples". At positions the names have
// these: "test[32:63].loss" of the split, "test[32:63, 12].loss" of a kind. Returns the names of
// the exact matches, or of the losses: first the one of the whole split. By position they are those
// of the losses. Throws InputError if the data of a run are missing or have changed.
std::vector<std::string> add_kind_scores(std::vector<ScoredRun>& runs, const KindRequest& request);

// Returns the name of a score without the kind of its examples, and this kind, "" for none:
// "test[12].loss" and "test.loss[12]" are "test.loss" of "12".
std::pair<std::string, std::string> split_kind(const std::string& name);

}  // namespace heed
