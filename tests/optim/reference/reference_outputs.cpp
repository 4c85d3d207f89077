// The outputs of the update rules in update_outputs.h as optim/reference defines them.
#define kernels reference
#include "optim/update_outputs.h"

namespace heed::inline HEED_REAL::testing {

std::vector<std::vector<real>> reference_outputs() { return reference::update_outputs(); }

}  // namespace heed::inline HEED_REAL::testing
