// A matrix product, c = a b, from the naive loop to the register tile: each step right, and how
// fast.
//
//   c++ -O3 -march=native -std=c++20 -I. course/fast.cpp -o fast && ./fast
//
// Chapter 14 of the course tells the story. With an own tile, of the exercise register-tile:
//
//   c++ -O3 -march=native -std=c++20 -I. -DTILE='"answers/register-tile.cpp"' course/fast.cpp
//   -o fast && ./fast
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#ifdef TILE
#include TILE
#endif

namespace {

constexpr int64_t N = 384;  // a, b and c are (N, N): 576 KiB each, together about an L2 cache
using Product = void (*)(const float* a, const float* b, float* c);

// One -------------------------------------------------------------------------------------------

// The definition, as in core/reference/gemm.cpp.
void as_defined(const float* a, const float* b, float* c) {
  for (int64_t i = 0; i < N; ++i)
    for (int64_t j = 0; j < N; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < N; ++p) sum += a[i * N + p] * b[p * N + j];
      c[i * N + j] = static_cast<float>(sum);
    }
}

// The same with b transposed before: both operands are read along rows.
void transposed(const float* a, const float* b, float* c) {
  static float t[N * N];
  for (int64_t p = 0; p < N; ++p)
    for (int64_t j = 0; j < N; ++j) t[j * N + p] = b[p * N + j];
  for (int64_t i = 0; i < N; ++i)
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0;
      for (int64_t p = 0; p < N; ++p) sum += a[i * N + p] * t[j * N + p];
      c[i * N + j] = sum;
    }
}

// Adds rows of b to a row of c. The compiler makes vectors of the inner loop.
void by_rows(const float* a, const float* b, float* c) {
  std::fill(c, c + N * N, 0.0F);
  for (int64_t i = 0; i < N; ++i)
    for (int64_t p = 0; p < N; ++p)
      for (int64_t j = 0; j < N; ++j) c[i * N + j] += a[i * N + p] * b[p * N + j];
}

// Tiles -----------------------------------------------------------------------------------------

#ifdef __AVX512F__
constexpr int64_t lanes = 16;
#else
constexpr int64_t lanes = 8;
#endif
typedef float Vector __attribute__((vector_size(4 * lanes), aligned(4), may_alias));

// rows × (vectors · lanes) elements of c stay in registers while p runs over the whole sum. Row p
// of b begins at b + p · leading_b.
template <int rows, int vectors, bool prefetch = false>
void tile(const float* a, const float* b, int64_t leading_b, float* c) {
  Vector sum[rows][vectors] = {};
  for (int64_t p = 0; p < N; ++p) {
    const float* const from = b + p * leading_b;
    if (prefetch) __builtin_prefetch(from + 8 * leading_b);
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v)
        sum[i][v] += a[i * N + p] * *reinterpret_cast<const Vector*>(from + v * lanes);
  }
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<Vector*>(c + i * N + v * lanes) = sum[i][v];
}

template <int rows, int vectors>
void by_tiles(const float* a, const float* b, float* c) {
  for (int64_t j = 0; j < N; j += vectors * lanes)
    for (int64_t i = 0; i < N; i += rows) tile<rows, vectors>(a + i * N, b + j, N, c + i * N + j);
}

// The columns [first, last) of c, a panel of b after the other. A panel is copied so that its rows
// follow each other in memory, and used by all rows of a.
template <int rows, int vectors, bool prefetch = false>
void panels(const float* a, const float* b, float* c, int64_t first = 0, int64_t last = N) {
  constexpr int64_t width = vectors * lanes;
  std::vector<float> panel(static_cast<size_t>(N * width));
  for (int64_t j = first; j < last; j += width) {
    for (int64_t p = 0; p < N; ++p) std::copy_n(b + p * N + j, width, panel.data() + p * width);
    for (int64_t i = 0; i < N; i += rows)
      tile<rows, vectors, prefetch>(a + i * N, panel.data(), width, c + i * N + j);
  }
}

// The tile of the library, 6 × 4 vectors where there are 32 registers, 6 × 2 where there are 16.
constexpr int best = lanes == 16 ? 4 : 2;

void packed(const float* a, const float* b, float* c) { panels<6, best>(a, b, c); }
void too_high(const float* a, const float* b, float* c) { panels<8, best>(a, b, c); }
void prefetched(const float* a, const float* b, float* c) { panels<6, best, true>(a, b, c); }

void by_two_threads(const float* a, const float* b, float* c) {
  std::thread half([=] { panels<6, best>(a, b, c, 0, N / 2); });
  panels<6, best>(a, b, c, N / 2, N);
  half.join();
}

#ifdef TILE
// The tile of the exercise adds 6 × 16 elements to c, from a panel of 16 columns of b.
void own_tile(const float* a, const float* b, float* c) {
  std::fill(c, c + N * N, 0.0F);
  std::vector<float> panel(static_cast<size_t>(N * 16));
  for (int64_t j = 0; j < N; j += 16) {
    for (int64_t p = 0; p < N; ++p) std::copy_n(b + p * N + j, 16, panel.data() + p * 16);
    for (int64_t i = 0; i < N; i += 6)
      heed::course::multiply_tile(N, a + i * N, N, panel.data(), c + i * N + j, N);
  }
}
#endif

// Measures --------------------------------------------------------------------------------------

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The least time of a product, of at least two and for at least 20 ms.
double least_seconds(Product product, const float* a, const float* b, float* c) {
  double least = 1e9;
  const double start = seconds();
  for (int runs = 0; runs < 2 || seconds() - start < 0.02; ++runs) {
    const double before = seconds();
    product(a, b, c);
    least = std::min(least, seconds() - before);
  }
  return least;
}

}  // namespace

int main() {
  std::vector<float> a(N * N), b(N * N), expected(N * N), c(N * N);
  uint32_t state = 1;
  for (std::vector<float>* x : {&a, &b})
    for (float& value : *x) {
      state = state * 1664525 + 1013904223;
      value = static_cast<float>(state >> 8) / (1 << 23) - 1;
    }
  as_defined(a.data(), b.data(), expected.data());

  double first = 0;
  bool all_right = true;
  const auto measure = [&](const char* name, Product product) {
    const double time = least_seconds(product, a.data(), b.data(), c.data());
    if (first == 0) first = time;
    float difference = 0;
    for (int64_t i = 0; i < N * N; ++i)
      difference = std::max(difference, std::fabs(c[i] - expected[i]));
    const bool right = difference < 1e-3F;
    all_right = all_right && right;
    std::printf("%-38s%8.1f GFLOP/s%8.1f times  %s\n", name, 2e-9 * N * N * N / time, first / time,
                right ? "right" : "WRONG");
  };
  measure("the definition, sums in double", as_defined);
  measure("b transposed, sums in float", transposed);
  measure("rows of c from rows of b", by_rows);
  measure("tile of 1 row x 1 vector", by_tiles<1, 1>);
  measure("tile of 6 rows x 1 vector", by_tiles<6, 1>);
  measure("tile of 6 rows x 2 vectors", by_tiles<6, 2>);
  if (lanes == 16) measure("tile of 12 rows x 2 vectors", by_tiles<12, 2>);
  if (lanes == 16) measure("tile of 6 rows x 4 vectors", by_tiles<6, best>);
  measure("the same from packed panels", packed);
  measure("the same, panels prefetched", prefetched);
  measure("packed panels, tile of 8 rows", too_high);
  measure("packed panels, two threads", by_two_threads);
#ifdef TILE
  measure("your tile of 6 rows x 16 columns", own_tile);
#endif
  return all_right ? 0 : 1;
}
