// The outputs of the kernels in kernel_outputs.h as core/reference defines them.
#define kernels reference
#include "kernel_outputs.h"

namespace heed::inline HEED_REAL::testing {

std::vector<Output> reference_outputs(size_t family) {
  return reference::families[family].outputs();
}

}  // namespace heed::inline HEED_REAL::testing
