#include "core/gradcheck/op_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "core/autograd.h"
#include "core/joined.h"
#include "core/parallel.h"
#include "core/pool.h"
#include "core/random.h"

namespace heed::inline HEED_REAL::testing {

namespace {

constexpr bool exact = sizeof(real) == sizeof(double);
// Relative to the largest value of the array they belong to, or to 1 if that is larger.
constexpr double value_tolerance = exact ? 1e-12 : 4e-6;

double scale_of(std::span<const double> values) {
  double scale = 1;
  for (const double v : values) scale = std::max(scale, std::fabs(v));
  return scale;
}

// Random values that real can represent; the same for the same name and seed.
class Numbers {
 public:
  Numbers(const std::string& name, uint64_t seed)
      : random_(std::hash<std::string>{}(name) + seed, Purpose::test) {}
  double next(double low, double high) {
    return static_cast<double>(static_cast<real>(low + (high - low) * random_.uniform()));
  }
  Array array(const Shape& shape, double low, double high) {
    Array array{shape, {}};
    for (int64_t i = 0; i < shape.size(); ++i) array.values.push_back(next(low, high));
    return array;
  }
  // Odd multiples of 1/512, centred at 0, each once, shuffled.
  Array distinct(const Shape& shape) {
    Array array{shape, {}};
    for (int64_t i = 0; i < shape.size(); ++i)
      array.values.push_back(static_cast<double>(2 * i + 1 - shape.size() / 2 * 2) / 512);
    for (int64_t i = shape.size() - 1; i > 0; --i)
      std::swap(array.values[static_cast<size_t>(i)],
                array.values[static_cast<size_t>(below(i + 1))]);
    return array;
  }
  int64_t below(int64_t n) { return static_cast<int64_t>(random_.below(static_cast<uint64_t>(n))); }

 private:
  Random random_;
};

Tensor tensor(const Array& array) {
  Tensor t = Tensor::empty(array.shape);
  std::copy(array.values.begin(), array.values.end(), t.mutable_data());
  return t;
}

std::vector<Tensor> tensors(Arrays arrays) {
  std::vector<Tensor> all;
  for (const Array& array : arrays) all.push_back(tensor(array));
  return all;
}

std::vector<double> values_of(const Tensor& t) { return {t.values().begin(), t.values().end()}; }

constexpr unsigned all_inputs = ~0u;
constexpr size_t max_subsets_of = 8;  // inputs: there are 2^n subsets
using Gradients = std::vector<std::vector<double>>;

Gradients gradients_of(Tensors x) {
  Gradients all;
  for (const Tensor& t : x)
    all.push_back(t && t.grad() ? values_of(t.grad()) : std::vector<double>{});
  return all;
}

using Kind = Failure::Kind;

// Runs the checks of one row and collects what fails.
class Checker {
 public:
  Checker(const OpRow& row, const RowCheck& how)
      : row_(row),
        how_(how),
        value_tolerance_(how.tolerance > 0 ? how.tolerance : value_tolerance),
        random_(row.name, how.seed) {}

  RowReport run() {
    const int64_t live = pool_statistics().live_bytes;
    try {
      run_checks();
    } catch (const std::exception& error) {
      fail({.kind = Kind::exception}, "{}: throws '{}'", stage_, error.what());
    }
    const int64_t left = pool_statistics().live_bytes - live;
    if (left != 0 && row_.definition)
      fail({.kind = Kind::memory}, "{} bytes are still allocated", left);
    return std::move(report_);
  }

 private:
  void run_checks() {
    const std::vector<Array> x = example(row_.inputs);
    const Array dy = random_.array(row_.result, -1, 1);
    report_.inputs = x;
    report_.cotangent = dy;
    if (check_values(x) && row_.differentiable && !x.empty() && check_recorded(x)) {
      const Gradients right = differentiate(x, dy, all_inputs);
      for (size_t k = 0; k < x.size(); ++k) report_.gradients.push_back({x[k].shape, right[k]});
      check_gradients(x, dy, right);
      if (how_.stops_at_gradients && !report_.failures.empty()) return;
      check_frozen(x, dy, right);
      check_accumulation(x, dy, right);
      check_changed_inputs(x, dy, right);
    }
    if (!row_.large.empty()) check_large();
    for (const auto& misuse : row_.misuses) check_misuse(misuse);
  }

  template <class... Args>
  void fail(Failure failure, fmt::format_string<Args...> format, Args&&... args) {
    failure.text = row_.name + ": " + fmt::format(format, std::forward<Args>(args)...);
    report_.failures.push_back(std::move(failure));
  }

  std::string name_of(size_t input) const {
    return input < row_.arguments.size() ? row_.arguments[input] : fmt::format("input {}", input);
  }

  // Reports the first disagreement, if any, as `failure`. `what` names the values in the report.
  bool compare(Failure failure, const std::string& what, const Shape& shape,
               const std::vector<double>& got, const std::vector<double>& expected,
               double tolerance) {
    if (got.size() != expected.size()) {
      fail(failure, "{}: {} values, expected {}", what, got.size(), expected.size());
      return false;
    }
    const double scale = scale_of(expected);
    for (size_t i = 0; i < got.size(); ++i) {
      if (std::fabs(got[i] - expected[i]) <= tolerance * scale || got[i] == expected[i]) continue;
      const Index index = index_of(shape, static_cast<int64_t>(i));
      failure.difference = {index, got[i], expected[i]};
      fail(failure, "{} [{}]: got {}, expected {}", what,
           joined(std::span(index.at).first(static_cast<size_t>(index.rank))), got[i], expected[i]);
      return false;
    }
    return true;
  }

  std::vector<Array> example(const std::vector<Shape>& shapes) {
    std::vector<Array> x;
    for (size_t i = 0; i < shapes.size(); ++i) {
      if (i < row_.values.size() && !row_.values[i].empty() && &shapes == &row_.inputs)
        x.push_back({shapes[i], row_.values[i]});
      else if (row_.distinct)
        x.push_back(random_.distinct(shapes[i]));
      else
        x.push_back(random_.array(shapes[i], row_.low, row_.high));
    }
    return x;
  }

  bool check_values(Arrays x) {
    stage_ = "value";
    const std::vector<Tensor> inputs = tensors(x);
    const Tensor y = row_.op(inputs);
    report_.value = {y.shape(), values_of(y)};
    if (!row_.definition) return true;  // a function that may have parameters of its own
    if (y.requires_grad())
      fail({.kind = Kind::kept}, "a result of frozen inputs remembers how it was made");
    if (!(y.shape() == row_.result)) {
      fail({.kind = Kind::shape}, "the result has shape {}, expected {}", y.shape(), row_.result);
      return false;
    }
    std::vector<double> expected;
    for (const Index& i : indices(row_.result)) expected.push_back(row_.definition(x, i));
    return compare({.kind = Kind::value}, "value", row_.result, report_.value.values, expected,
                   value_tolerance_);
  }

  bool check_recorded(Arrays x) {
    stage_ = "value of inputs that require a gradient";
    std::vector<Tensor> inputs = tensors(x);
    for (Tensor& input : inputs) input.set_requires_grad();
    if (row_.op(inputs).requires_grad()) return true;
    fail({.kind = Kind::unrecorded},
         "the result does not remember how it was made, so no gradient reaches the inputs");
    return false;
  }

  // The gradients of Σ dy · y for the inputs named by the bits of `subset`.
  Gradients differentiate(Arrays x, const Array& dy, unsigned subset, int times = 1) {
    std::vector<Tensor> inputs = tensors(x);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (subset >> i & 1) inputs[i].set_requires_grad();
    for (int time = 0; time < times; ++time) backward(row_.op(inputs), tensor(dy));
    return gradients_of(inputs);
  }

  // Σ dy · y: in the float build of the operation's definition, if it has one, which is in double.
  double weighted(Arrays x, const Array& dy) {
    double total = 0;
    if (exact || !row_.definition) {
      const std::vector<double> y = values_of(row_.op(tensors(x)));
      for (size_t i = 0; i < y.size(); ++i) total += dy.values[i] * y[i];
    } else {
      for (int64_t i = 0; i < row_.result.size(); ++i)
        total += dy.values[static_cast<size_t>(i)] * row_.definition(x, index_of(row_.result, i));
    }
    return total;
  }

  void check_gradients(std::vector<Array> x, const Array& dy, const Gradients& got) {
    stage_ = "gradient";
    for (size_t k = 0; k < x.size(); ++k) {
      std::vector<double> expected;
      for (double& value : x[k].values) {
        const double before = value;
        value = before + how_.eps;
        const double above = weighted(x, dy);
        value = before - how_.eps;
        expected.push_back((above - weighted(x, dy)) / (2 * how_.eps));
        value = before;
      }
      compare({.kind = Kind::gradient, .input = static_cast<int>(k)},
              fmt::format("gradient of {}", name_of(k)), x[k].shape, got[k], expected,
              how_.gradient_tolerance);
    }
  }

  // "when only a, c require one"
  std::string required(unsigned subset) const {
    std::vector<std::string> names;
    for (size_t k = 0; k < row_.inputs.size(); ++k)
      if (subset >> k & 1) names.push_back(name_of(k));
    return fmt::format("when only {} require{} one", joined(names), names.size() == 1 ? "s" : "");
  }

  void check_frozen(Arrays x, const Array& dy, const Gradients& right) {
    if (x.size() > max_subsets_of) return;
    for (unsigned subset = 1; subset + 1 < 1u << x.size(); ++subset) {
      const std::string when = required(subset);
      stage_ = "gradient " + when;
      const Gradients got = differentiate(x, dy, subset);
      for (size_t k = 0; k < x.size(); ++k)
        compare({.kind = Kind::frozen, .input = static_cast<int>(k)},
                fmt::format("gradient of {} {}", name_of(k), when), x[k].shape, got[k],
                subset >> k & 1 ? right[k] : std::vector<double>{}, value_tolerance_);
    }
  }

  void check_accumulation(Arrays x, const Array& dy, const Gradients& right) {
    stage_ = "gradient of two losses";
    const Gradients got = differentiate(x, dy, all_inputs, 2);
    for (size_t k = 0; k < x.size(); ++k) {
      std::vector<double> twice = right[k];
      for (double& value : twice) value *= 2;
      compare({.kind = Kind::accumulation, .input = static_cast<int>(k)},
              fmt::format("gradient of {} after two losses", name_of(k)), x[k].shape, got[k], twice,
              value_tolerance_);
    }
  }

  void check_changed_inputs(Arrays x, const Array& dy, const Gradients& right) {
    for (size_t changed = 0; changed < x.size(); ++changed) {
      std::vector<Tensor> inputs = tensors(x);
      for (Tensor& input : inputs) input.set_requires_grad();
      const Tensor y = row_.op(inputs);
      real* numbers_of_input = inputs[changed].mutable_data();
      std::fill_n(numbers_of_input, inputs[changed].size(), real{7});
      try {
        backward(y, tensor(dy));
      } catch (const Error& noticed) {
        if (std::string(noticed.what()).find("changed") == std::string::npos)
          fail({.kind = Kind::changed}, "a changed input gives the error '{}'", noticed.what());
        continue;
      }
      const Gradients got = gradients_of(inputs);
      for (size_t k = 0; k < x.size(); ++k)
        compare({.kind = Kind::changed, .input = static_cast<int>(k)},
                fmt::format("gradient of {} when {} is changed", name_of(k), name_of(changed)),
                x[k].shape, got[k], right[k], value_tolerance_);
    }
  }

  void check_large() {
    stage_ = "large inputs";
    const std::vector<Array> x = example(row_.large);
    const Shape shape = row_.op(tensors(x)).shape();
    const Array dy = random_.array(shape, -1, 1);
    const int before = thread_count();
    std::vector<double> value;
    Gradients gradients;
    for (const int threads : {1, 2, 3}) {
      set_thread_count(threads);
      const std::vector<double> y = values_of(row_.op(tensors(x)));
      const Gradients g = differentiate(x, dy, all_inputs);
      if (threads == 1) {
        value = y;
        gradients = g;
        continue;
      }
      compare({.kind = Kind::large}, fmt::format("value with {} threads", threads), shape, y, value,
              0);
      for (size_t k = 0; k < x.size(); ++k)
        compare({.kind = Kind::large},
                fmt::format("gradient of {} with {} threads", name_of(k), threads), x[k].shape,
                g[k], gradients[k], 0);
    }
    set_thread_count(before);
    check_places(x, shape, value);
    if (exact) check_directions(x, dy, gradients);
  }

  // Compares a few elements of a large result with the definition, the first and the last among
  // them.
  void check_places(Arrays x, const Shape& shape, const std::vector<double>& value) {
    std::vector<double> got, expected;
    for (int64_t n = 0; n < std::min<int64_t>(40, shape.size()); ++n) {
      const int64_t i = n == 0 ? 0 : n == 1 ? shape.size() - 1 : random_.below(shape.size());
      got.push_back(value[static_cast<size_t>(i)]);
      expected.push_back(row_.definition(x, index_of(shape, i)));
    }
    compare({.kind = Kind::large}, "some values of a large result",
            Shape{static_cast<int64_t>(got.size())}, got, expected, 10 * value_tolerance_);
  }

  // Σ gradient · direction is the derivative along a random direction.
  void check_directions(const std::vector<Array>& x, const Array& dy, const Gradients& got) {
    for (size_t k = 0; k < x.size(); ++k) {
      const Array direction = random_.array(x[k].shape, -1, 1);
      const auto moved = [&](double by) {
        std::vector<Array> there = x;
        for (size_t i = 0; i < direction.values.size(); ++i)
          there[k].values[i] += by * direction.values[i];
        return weighted(there, dy);
      };
      double along = 0, size = 1;
      for (size_t i = 0; i < direction.values.size(); ++i) {
        along += got[k][i] * direction.values[i];
        size += std::fabs(got[k][i] * direction.values[i]);
      }
      const double expected = (moved(how_.eps) - moved(-how_.eps)) / (2 * how_.eps);
      if (std::fabs(along - expected) > how_.gradient_tolerance * std::sqrt(size))
        fail({.kind = Kind::large},
             "derivative along a direction of a large {}: got {}, expected {}", name_of(k), along,
             expected);
    }
  }

  void check_misuse(const std::function<void()>& misuse) {
    const std::string operation = row_.name.substr(0, row_.name.find(':'));
    try {
      misuse();
      fail({.kind = Kind::misuse}, "a misuse did not throw");
    } catch (const Error& error) {
      if (std::string(error.what()).rfind(operation + ":", 0) != 0)
        fail({.kind = Kind::misuse}, "the error does not begin with the operation's name: '{}'",
             error.what());
    }
  }

  const OpRow& row_;
  const RowCheck how_;
  const double value_tolerance_;
  Numbers random_;
  std::string stage_;  // the check that runs, for errors
  RowReport report_;
};

}  // namespace

RowReport check_row(const OpRow& row, const RowCheck& how) { return Checker(row, how).run(); }

}  // namespace heed::inline HEED_REAL::testing
