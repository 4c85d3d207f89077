// The former name of nn/module_scope.h.
#pragma once

#include "nn/module_scope.h"

namespace heed::inline HEED_REAL {
using CurrentPart = ModuleScope;
}  // namespace heed::inline HEED_REAL
