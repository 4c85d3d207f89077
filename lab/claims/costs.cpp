// Parameters and FLOPs of layers, and how FLOPs grow with the sequence length L.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/observer.h"
#include "core/threads.h"
#include "lab/claims/claim.h"
#include "lab/claims/samples.h"
#include "nn/forms/recurrent.h"
#include "nn/forms/time_dense.h"

namespace heed::claims {
namespace {

struct ParameterCount {
  const char *layer, *formula;
  int64_t expected, counted;
};

AttentionForm attention_with(int64_t dim, int64_t key_dim) {
  return {dim,
          1,
          {.linear = {.bias = false},
           .key_dim = key_dim,
           .value_dim = dim,
           .combine = Combine::concat}};
}
int64_t attention_parameters(int64_t dim, int64_t key_dim) {
  return attention_with(dim, key_dim).parameter_count();
}

// FLOPs of attention with d = 64 over 256 positions.
double flops_with(int64_t key_dim) {
  return flops_of([=] { return attention_with(64, key_dim)(normal(1, 256, 64), {}); });
}

// S4's table for one head with dₖ = dᵥ = d, without biases and output projection, counted on layers
// that a config can train. Unlike the table it counts the gates of a GRU and an LSTM, and the two
// projections of a dense layer over time.
std::vector<ParameterCount> parameter_counts() {
  constexpr int64_t d = 12, length = 9, ks = 3;
  const LinearOptions no_bias{false};
  return {{"attention", "2 d dₖ + d dᵥ", 2 * d * d + d * d, attention_parameters(d, d)},
          {"convolution", "ks d dᵥ", ks * d * d,
           Convolution(d, ks, Padding::zero, false, no_bias).parameter_count()},
          {"GRU", "3 (d dᵥ + dᵥ²)", 3 * (d * d + d * d), Gru(d, no_bias).parameter_count()},
          {"dense over time", "L² + 2 d dᵥ", length * length + 2 * d * d,
           TimeDense(d, length, no_bias).parameter_count()},
          {"one matrix for all", "L² d dᵥ", length * length * d * d,
           FullDense(d, length, no_bias).parameter_count()},
          {"scalar convolution", "ks", ks,
           Convolution(d, ks, Padding::zero, false, no_bias, {.scalar = true}).parameter_count()},
          {"LSTM", "4 (d dᵥ + dᵥ²)", 4 * (d * d + d * d), Lstm(d, no_bias).parameter_count()}};
}

template <size_t row>
double error_of_count() {
  const ParameterCount count = parameter_counts()[row];
  return difference(count.counted, count.expected);
}

std::string parameter_table() {
  std::string text = "       parameters, d = dₖ = dᵥ = 12, L = 9, ks = 3\n";
  for (const ParameterCount& row : parameter_counts())
    text += fmt::format("       {:<20}{:>8} by formula{:>8} counted   {}\n", row.layer,
                        row.expected, row.counted, row.formula);
  return text;
}

// One sequence of length L and width 16.
Tensor input(double length) { return normal(1, static_cast<int64_t>(length), 16); }
Tensor attention(const Tensor& x) { return scaled_dot_product_attention(x, x, x, 1); }

// FLOPs of one layer.
double attention_cost(double length) {
  return flops_of([=] { return attention(input(length)); });
}
double convolution_cost(double length) {
  return flops_of([=] { return Convolution(16, 3)(input(length), {}); });
}
double gru_cost(double length) {
  return flops_of([=] { return Gru(16)(input(length), {}); });
}
double lstm_cost(double length) {
  return flops_of([=] { return Lstm(16)(input(length), {}); });
}
double dense_cost(double length) {
  return flops_of([=] {
    const Tensor x = input(length);
    return FullDense(16, x.dim(1))(x, {});
  });
}

// The p of cost = a Lᵖ, by least squares of logarithms.
double exponent(const std::vector<double>& lengths, double (*cost)(double length)) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const double length : lengths) {
    const double a = std::log(length), b = std::log(cost(length));
    x += a, y += b, xx += a * a, xy += a * b;
  }
  const auto n = static_cast<double>(lengths.size());
  return (n * xy - x * y) / (n * xx - x * x);
}

double error_of_exponent(double (*cost)(double length), double expected) {
  return std::abs(exponent({64, 128, 256, 512, 1024}, cost) - expected);
}

// The shortest of some runs, in milliseconds.
double milliseconds(const Computation& run, int runs = 7) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  Milliseconds least = Milliseconds::max();
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    least = std::min<Milliseconds>(least, std::chrono::steady_clock::now() - start);
  }
  return least.count();
}

double attention_time(double length) {
  return milliseconds([x = input(length)] { return attention(x); });
}
double convolution_time(double length) {
  const Convolution convolution(16, 3);
  return milliseconds([&, x = input(length)] { return convolution(x, {}); });
}

// A note, not a claim: times depend on what else the machine does.
std::string cost_table() {
  const std::vector<double> lengths = {256, 512, 1024, 2048};
  std::string text =
      "       FLOPs of one layer, d = dₖ = dᵥ = 16, and the time of two of them on this machine\n"
      "       L         attention  convolution          GRU        dense   attention  "
      "convolution\n";
  for (const double length : lengths)
    text +=
        fmt::format("       {:<6.0f}{:>13.4g}{:>13.4g}{:>13.4g}{:>13.4g}{:>9.3f} ms{:>10.3f} ms\n",
                    length, attention_cost(length), convolution_cost(length), gru_cost(length),
                    dense_cost(length), attention_time(length), convolution_time(length));
  return text + fmt::format("       time grows as L^{:.2f} and L^{:.2f}\n",
                            exponent(lengths, attention_time), exponent(lengths, convolution_time));
}

// Layers that a position passes information through, for the time and the number of operations.
struct Layer {
  const char* name;
  std::unique_ptr<Mixing> mixing;
};
std::vector<Layer> layers_of_time(int64_t width) {
  std::vector<Layer> layers;
  layers.push_back({"GRU", std::make_unique<Gru>(width)});
  layers.push_back({"LSTM", std::make_unique<Lstm>(width)});
  layers.push_back({"convolution", std::make_unique<Convolution>(width, 3)});
  layers.push_back({"attention", std::make_unique<MultiHeadAttention>(width, 4)});
  return layers;
}

// How many operations, one after the other, compute layer number `which` on a sequence.
double operations(size_t which, int64_t length) {
  struct Counter final : Observer {
    double count = 0;
    void op_finished(const char*, const Tensor&, std::span<const Tensor>, const Node*) override {
      ++count;
    }
  } counter;
  const std::vector<Layer> layers = layers_of_time(8);
  const Tensor x = normal(1, length, 8);
  const ObserverScope observed(counter);
  (*layers[which].mixing)(x, {});
  return counter.count;
}

// A note, not a claim, as above.
std::string time_table() {
  const int before = thread_count();
  const std::vector<Layer> layers = layers_of_time(64);
  std::string text =
      "       milliseconds of one layer by length, forward, batch 8, d = 64, with 1 and 2 threads\n"
      "       L    ";
  for (const Layer& layer : layers) text += fmt::format("{:>21}", layer.name);
  text += "\n            ";
  for (size_t i = 0; i < layers.size(); ++i) text += fmt::format("{:>11}{:>10}", 1, 2);
  for (const int64_t length : {64, 256, 1024}) {
    const Tensor x = normal(8, length, 64);
    text += fmt::format("\n       {:<5}", length);
    for (const Layer& layer : layers)
      for (const int threads : {1, 2}) {
        set_thread_count(threads);
        text += fmt::format("{:>{}.2f}", milliseconds([&] { return (*layer.mixing)(x, {}); }, 3),
                            threads == 1 ? 11 : 10);
      }
  }
  set_thread_count(before);
  return text + "\n       A GRU and an LSTM compute the positions one after the other.\n";
}

// The number of pairs of a query and a key that a window allows.
double pairs_in_window(int64_t length, int64_t window) {
  const KeepMask mask{.window = window};
  int64_t count = 0;
  for (int64_t i = 0; i < length; ++i)
    for (int64_t j = 0; j < length; ++j) count += mask.keeps(0, 0, i, j, length, length);
  return static_cast<double>(count);
}

}  // namespace

const std::vector<Claim> topics::costs = {
    {"A39", by_construction, "S4", "attention has 2 d dₖ + d dᵥ parameters (difference)",
     error_of_count<0>},
    {"A39", by_construction, "S4", "a convolution has ks d dᵥ", error_of_count<1>},
    {"A39", by_construction, "S4",
     "a recurrent layer has d dᵥ + dᵥ² for each of a GRU's three gates", error_of_count<2>},
    {"A39", by_construction, "S4", "a dense layer over time has L², and two projections",
     error_of_count<3>},
    {"A39", by_construction, "S4", "a dense layer over everything has L² d dᵥ", error_of_count<4>},
    {"A39", by_construction, "S4", "a convolution with a number for each offset has ks",
     error_of_count<5>},
    {"A39", by_construction, "S4", "an LSTM has d dᵥ + dᵥ² for each of four gates",
     error_of_count<6>},
    {"A44", by_construction, "S4",
     "a GRU and an LSTM need as many more operations for each position (difference)",
     [] {
       return max_of(2, [](int64_t layer) {
         const auto at = [layer](int64_t length) {
           return operations(static_cast<size_t>(layer), length);
         };
         const double more = at(2) - at(1);
         return more > 0 ? std::abs(at(40) - at(8) - 32 * more) : 1;  // 1: none was counted
       });
     }},
    {"A44", by_construction, "S4",
     "a convolution and attention need as many for any length (difference)",
     [] {
       return max_of(2, [](int64_t layer) {
         const auto which = static_cast<size_t>(layer + 2);
         return std::abs(operations(which, 40) - operations(which, 8));
       });
     }},
    {"A41", by_construction, "S4",
     "dₖ = d/8 needs an eighth of the query and key weights (difference)",
     [] {
       const auto query_and_key = [](int64_t key_dim) {
         return attention_parameters(64, key_dim) - 64 * 64;
       };
       return difference(query_and_key(64), 8 * query_and_key(8));
     }},
    {"A41", at_most(0.53), "S4",
     "… and half of the FLOPs: of attention with dₖ = 8 by those with dₖ = 64, L = 256 (ratio)",
     [] { return flops_with(8) / flops_with(64); }},
    {"A41", by_construction, "S4", "… it saves (4 L d + 2 L²) (d - dₖ) of them (difference)",
     [] {
       return std::abs(flops_with(64) - flops_with(8) - (4 * 256 * 64 + 2 * 256 * 256) * (64 - 8));
     }},
    {"A40", by_construction, "S4",
     "attention takes 2 L² (dₖ + dᵥ) FLOPs, as its kernel counts (difference)",
     [] { return std::abs(attention_cost(200) - 2 * 200 * 200 * (16 + 16)); }},
    {"A40", at_most(1e-9), "S4", "the FLOPs of attention grow as L² (error of the exponent)",
     [] { return error_of_exponent(attention_cost, 2); }},
    {"A40", at_most(1e-9), "S4",
     "those of a convolution, a GRU and an LSTM grow as L (error of the exponent)",
     [] {
       return std::max({error_of_exponent(convolution_cost, 1), error_of_exponent(gru_cost, 1),
                        error_of_exponent(lstm_cost, 1)});
     }},
    {"A40", at_most(1e-9), "S4",
     "those of a dense layer over everything grow as L² (error of the exponent)",
     [] { return error_of_exponent(dense_cost, 2); }},
    {"A42", equal, "S4", "a window of w is a band mask, |i - j| < w",
     [] {
       const MultiHeadAttention layer(6, 2);
       const Ids band =
           ids_of({1, 1, 12, 12}, [](int64_t n) { return std::abs(n / 12 - n % 12) < 3; });
       const Tensor x = normal(1, 12, 6);
       return distance(layer(x, {.mask = {.window = 3}}), layer(x, {.mask = {.dense = band}}));
     }},
    {"A42", by_construction, "S4",
     "it allows L (2w - 1) - w (w - 1) pairs, L = 100, w = 8 (difference)",
     [] { return std::abs(pairs_in_window(100, 8) - (100 * 15 - 8 * 7)); }},
    {"A42", at_most(0.02), "S4",
     "the kernel's FLOPs with a window of 8 grow as L (error of the exponent, L = 1,024 … 8,192)",
     [] {
       const auto cost = [](double length) {
         return flops_of([=] {
           const Tensor x = input(length);
           return scaled_dot_product_attention(x, x, x, 1, {.mask = {.window = 8}});
         });
       };
       return std::abs(exponent({1024, 2048, 4096, 8192}, cost) - 1);
     }},
    {"A42", at_most(0.05), "S4", "these grow as L (error of the exponent, L = 64 … 1,024)",
     [] {
       return error_of_exponent(
           [](double length) { return pairs_in_window(static_cast<int64_t>(length), 4); }, 1);
     }},
};

const std::vector<Note> topics::notes_of_costs = {
    {"A39", parameter_table}, {"A40", cost_table}, {"A44", time_table}};

}  // namespace heed::claims
