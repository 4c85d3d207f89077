// The element type of every tensor.
//
// core, nn and optim are compiled twice: with float for training, and with double (HEED_DOUBLE) to
// check gradients. Correct code agrees with central differences to 1e-6 in double, and only to 7e-2
// in float. All declarations are in an inline namespace, f32 or f64. Code writes heed::Tensor, and
// a program that mixes the two builds does not link.
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

}  // namespace heed::inline HEED_REAL
