// Tables of the effects of keys and of groups, as `heed compare` prints them and a report shows
// them.
#pragma once

#include <vector>

#include "apps/support/table.h"
#include "lab/experiments/effects.h"

namespace heed {

struct EffectTable {
  Table table;      // with a note that explains it
  size_t left = 1;  // columns of words
};
// Returns the tables of keys, groups and interactions: those that there are.
std::vector<EffectTable> effect_tables(const Effects& effects, const SeedGroups& groups);

}  // namespace heed
