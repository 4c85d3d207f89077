// The type of every element: float to train, double to check gradients.
//
// Correct code agrees with central differences to 1e-6 in double, and only to 7e-2 in float. So
// core, nn and optim are compiled a second time, with HEED_DOUBLE. Their declarations are in an
// inline namespace, f32 or f64, which is why files open `namespace heed::inline HEED_REAL`. Code
// writes heed::Tensor as if it were not there, and a program that mixes the two builds does not
// link. data is compiled once, so it needs no such namespace.
#pragma once

#ifdef HEED_DOUBLE
#define HEED_REAL f64
#else
#define HEED_REAL f32
#endif

namespace heed::inline HEED_REAL {

#ifdef HEED_DOUBLE
using real = double;
#else
using real = float;
#endif

// Where a gradient or a result is written, and whether it is added to what is there. So no gradient
// is ever filled with zeros first, and a matrix product adds in place.
struct Destination {
  real* data;
  bool accumulate;
};

}  // namespace heed::inline HEED_REAL
