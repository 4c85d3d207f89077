// Functions of one number, for n of them, and their derivatives times dy. Each forward kernel
// writes y, each backward kernel writes to dx or adds to it.
#pragma once

#include <cstdint>

#include "core/destination.h"

namespace heed::inline HEED_REAL::kernels {

void exp_forward(int64_t n, const real* x, real* y);
void log_forward(int64_t n, const real* x, real* y);
void log_backward(int64_t n, const real* dy, const real* x, Destination dx);
void sqrt_forward(int64_t n, const real* x, real* y);
void sqrt_backward(int64_t n, const real* dy, const real* y, Destination dx);
void pow_forward(int64_t n, const real* x, real exponent, real* y);
void pow_backward(int64_t n, const real* dy, const real* x, real exponent, Destination dx);
void tanh_forward(int64_t n, const real* x, real* y);
void tanh_backward(int64_t n, const real* dy, const real* y, Destination dx);
void sigmoid_forward(int64_t n, const real* x, real* y);
void sigmoid_backward(int64_t n, const real* dy, const real* y, Destination dx);
void relu_forward(int64_t n, const real* x, real* y);
void relu_backward(int64_t n, const real* dy, const real* y, Destination dx);
void gelu_forward(int64_t n, const real* x, real* y);
void gelu_backward(int64_t n, const real* dy, const real* x, Destination dx);
void gelu_tanh_forward(int64_t n, const real* x, real* y);
void gelu_tanh_backward(int64_t n, const real* dy, const real* x, Destination dx);
void silu_forward(int64_t n, const real* x, real* y);
void silu_backward(int64_t n, const real* dy, const real* x, Destination dx);

}  // namespace heed::inline HEED_REAL::kernels
