// Every differentiable operation. nn calls only these.
//
// Each is one function in ops/<family>.cpp that checks its inputs, computes the result and records
// its backward. All throw Error with the operation, the violated condition and the shapes. Binary
// operations broadcast like NumPy. Negative axes count from the end.
#pragma once

#include "core/activation_names.h"
#include "core/more_ops.h"      // the others
#include "core/standard_ops.h"  // those of the standard Transformer
