// The type of every element: float to train, double to check gradients.
//
// Central differences confirm a correct gradient to 1e-6 in double. In float, rounding hides small
// mistakes. So core, nn and optim are compiled a second time, with HEED_DOUBLE. Their declarations
// are in an inline namespace, f32 or f64: files open with `namespace heed::inline HEED_REAL`. Code
// writes heed::Tensor as if it were not there, and a program that mixes the two builds does not
// link. data is compiled once, so it needs no such namespace.
#pragma once

#ifdef HEED_DOUBLE
#define HEED_REAL f64
#else
#define HEED_REAL f32
#endif

namespace heed::inline HEED_REAL {

class Fields;  // core/fields.h: reads the options of every room from a config

#ifdef HEED_DOUBLE
using real = double;  // the type of every element
#else
using real = float;  // the type of every element
#endif

// Where a loop writes its result, and whether it adds to what is there: the first gradient that a
// tensor receives is written, and the next ones are added. Clients do not need it.
struct Destination {
  real* data;       // the first element
  bool accumulate;  // add; otherwise overwrite
};

}  // namespace heed::inline HEED_REAL
