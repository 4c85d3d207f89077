// What layers cost in parameters and operations, and how that grows with the length L.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "nn/convolution.h"
#include "nn/gru.h"
#include "nn/time_dense.h"
#include "theorems/samples.h"
#include "theorems/theorem.h"

namespace heed::theorems {
namespace {

struct Counted {
  const char *layer, *formula;
  int64_t wanted, counted;
};

// S4's table for one head of width K = V = d, without biases and output projection; and what it
// leaves out: a GRU has three gates, and a dense layer has values and outputs to project.
std::vector<Counted> parameter_counts() {
  constexpr int64_t d = 12, length = 9, ks = 3;
  const LinearOptions no_bias{false};
  AttentionSetup setup = plain();
  setup.form.combine = Combine::concat;
  return {{"attention", "2 d dₖ + d dᵥ", 2 * d * d + d * d,
           MultiHeadAttention(d, 1, setup).parameter_count()},
          {"convolution", "ks d dᵥ", ks * d * d,
           Convolution(d, ks, Padding::zero, false, no_bias).parameter_count()},
          {"GRU", "3 (d dᵥ + dᵥ²)", 3 * (d * d + d * d), Gru(d, no_bias).parameter_count()},
          {"dense over time", "L² + 2 d dᵥ", length * length + 2 * d * d,
           TimeDense(d, length, no_bias).parameter_count()},
          {"one matrix for all", "L² d dᵥ", length * length * d * d,
           Linear(length * d, length * d, no_bias).parameter_count()}};
}

double difference(size_t row) {
  const Counted counted = parameter_counts()[row];
  return std::abs(static_cast<double>(counted.counted - counted.wanted));
}

std::string parameter_table() {
  std::string text = "       parameters, d = dₖ = dᵥ = 12, L = 9, ks = 3\n";
  for (const Counted& row : parameter_counts())
    text += fmt::format("       {:<20}{:>8} by formula{:>8} counted   {}\n", row.layer, row.wanted,
                        row.counted, row.formula);
  return text;
}

void parameters(Measurements& m) {
  m.at_most("A39", 0, "S4", "attention has 2 d dₖ + d dᵥ parameters (difference)",
            [] { return difference(0); });
  m.at_most("A39", 0, "S4", "a convolution ks d dᵥ", [] { return difference(1); });
  m.at_most("A39", 0, "S4", "a recurrent layer d dᵥ + dᵥ² for each of a GRU's three gates",
            [] { return difference(2); });
  m.at_most("A39", 0, "S4", "a dense layer over time L², and its two projections",
            [] { return difference(3); });
  m.at_most("A39", 0, "S4", "a dense layer of everything L² d dᵥ", [] { return difference(4); });
  m.note("A39", parameter_table);
  m.at_most("A41", 0, "S4",
            "dₖ = d/8 has an eighth of the weights of queries and keys (difference)", [] {
              const auto count = [](int64_t key_dim) {
                AttentionSetup setup = plain();
                setup.form.combine = Combine::concat;
                setup.form.key_dim = key_dim;
                setup.form.value_dim = 64;
                return MultiHeadAttention(64, 1, setup).parameter_count() - 64 * 64;
              };
              return std::abs(static_cast<double>(count(64) - 8 * count(8)));
            });
}

// Operations of one layer of width 16 on one sequence of L: two for each multiplication of a matrix
// product.
constexpr double width = 16;
double attention_operations(double length) {
  return theorems::attention_operations(length, width, width);
}
double convolution_operations(double length) { return 2 * length * 3 * width * width; }
double gru_operations(double length) { return 2 * length * 6 * width * width; }
double dense_operations(double length) { return 2 * length * length * width * width; }

// Multiplications and additions of softmax(Q Kᵀ) V, counted in the loops that define it.
double counted_in_loops(int64_t length) {
  double operations = 0;
  for (int64_t i = 0; i < length; ++i)
    for (int64_t j = 0; j < length; ++j) {
      for (int64_t c = 0; c < 16; ++c) operations += 2;  // score += q[i][c] · k[j][c]
      for (int64_t c = 0; c < 16; ++c) operations += 2;  // o[i][c] += weight · v[j][c]
    }
  return operations;
}

// The p of cost = a L^p, by least squares in logarithms.
double exponent(const std::vector<double>& lengths, const std::function<double(double)>& cost) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const double length : lengths) {
    const double a = std::log(length), b = std::log(cost(length));
    x += a, y += b, xx += a * a, xy += a * b;
  }
  const auto n = static_cast<double>(lengths.size());
  return (n * xy - x * y) / (n * xx - x * x);
}

const std::vector<double> powers = {64, 128, 256, 512, 1024};
const std::vector<double> timed = {256, 512, 1024, 2048};

// The shortest of some runs, in milliseconds.
double milliseconds(const std::function<void()>& run) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 7; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - start;
    least = std::min(least, taken.count());
  }
  return least;
}

double attention_time(double length) {
  const Tensor x = normal({1, static_cast<int64_t>(length), 16});
  return milliseconds([&] { (void)scaled_dot_product_attention(x, x, x, 1); });
}

double convolution_time(double length) {
  const Convolution convolution(16, 3, Padding::zero, false);
  const Tensor x = normal({1, static_cast<int64_t>(length), 16});
  return milliseconds([&] { (void)convolution(x, {}); });
}

std::string cost_table() {
  std::string text =
      "       operations of one layer, d = dₖ = dᵥ = 16, and the time of two of them here\n"
      "       L         attention  convolution          GRU        dense   attention  "
      "convolution\n";
  for (const double length : timed)
    text += fmt::format(
        "       {:<6.0f}{:>13.4g}{:>13.4g}{:>13.4g}{:>13.4g}{:>9.3f} ms{:>10.3f} ms\n", length,
        attention_operations(length), convolution_operations(length), gru_operations(length),
        dense_operations(length), attention_time(length), convolution_time(length));
  // Not a claim that can fail: a clock depends on what else the machine does.
  text += fmt::format("       time grows as L^{:.2f} and L^{:.2f}\n",
                      exponent(timed, attention_time), exponent(timed, convolution_time));
  return text;
}

void operations(Measurements& m) {
  m.at_most("A40", 0, "S4",
            "attention takes 2 L² (dₖ + dᵥ) operations, as its loops count (difference)",
            [] { return std::abs(counted_in_loops(200) - attention_operations(200)); });
  m.at_most("A40", 1e-9, "S4", "attention's operations grow as L² (error of the exponent)",
            [] { return std::abs(exponent(powers, attention_operations) - 2); });
  m.at_most("A40", 1e-9, "S4", "those of a convolution and of a GRU as L", [] {
    return std::max(std::abs(exponent(powers, convolution_operations) - 1),
                    std::abs(exponent(powers, gru_operations) - 1));
  });
  m.at_most("A40", 1e-9, "S4", "those of a dense layer of everything as L²",
            [] { return std::abs(exponent(powers, dense_operations) - 2); });
  m.note("A40", cost_table);
}

// Pairs of a query and a key that a window lets meet.
double pairs_in_window(int64_t length, int64_t window) {
  KeepMask mask;
  mask.window = window;
  int64_t count = 0;
  for (int64_t i = 0; i < length; ++i)
    for (int64_t j = 0; j < length; ++j) count += mask.keeps(0, 0, i, j, length, length);
  return static_cast<double>(count);
}

double error_of_window() {
  const MultiHeadAttention attention(6, 2);
  KeepMask window, dense;
  window.window = 3;
  dense.dense = Ids::full({1, 1, 12, 12}, 0);
  for (int64_t i = 0; i < 12; ++i)
    for (int64_t j = 0; j < 12; ++j) dense.dense.data()[i * 12 + j] = std::abs(i - j) < 3;
  const Tensor x = normal({1, 12, 6});
  return distance(attention(x, x, window), attention(x, x, dense));
}

void windows(Measurements& m) {
  m.at_most("A42", rounding, "S4", "a window of w is a mask that is a band, |i - j| < w",
            error_of_window);
  m.at_most("A42", 0, "S4",
            "it lets L (2w - 1) - w (w - 1) pairs meet, L = 100, w = 8 (difference)",
            [] { return std::abs(pairs_in_window(100, 8) - (100 * 15 - 8 * 7)); });
  m.at_most("A42", 0.05, "S4", "these grow as L (error of the exponent, L = 64 … 1,024)", [] {
    return std::abs(
        exponent(powers,
                 [](double length) { return pairs_in_window(static_cast<int64_t>(length), 4); }) -
        1);
  });
}

}  // namespace

void measure_costs(Measurements& m) {
  m.section("Costs");
  parameters(m);
  operations(m);
  windows(m);
}

}  // namespace heed::theorems
