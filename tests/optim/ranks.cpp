// Optimizers and averages whose arena several ranks share.
#include <algorithm>
#include <cmath>

#include "optim/average.h"
#include "optim/layout.h"
#include "optim/save.h"
#include "optim/trained.h"
#include "thread_ranks.h"

using namespace heed;

namespace {

using Values = std::vector<real>;

real rank_wave(int64_t i, int64_t t) {
  return static_cast<real>(std::sin(0.1 * static_cast<double>(i * (t + 1))));
}

Values rank_waves(int64_t size, int64_t t) {
  Values values;
  for (int64_t i = 0; i < size; ++i) values.push_back(rank_wave(i, t));
  return values;
}

// The sum of arrays in one tree, neighbours first.
Values tree_sum(std::vector<Values> arrays) {
  for (size_t width = 1; width < arrays.size(); width *= 2)
    for (size_t i = 0; i < arrays.size(); i += 2 * width)
      for (size_t k = 0; k < arrays[i].size(); ++k) arrays[i][k] += arrays[i + width][k];
  return arrays[0];
}

// What is left of training with a number of ranks.
struct TrainingOutcome {
  std::vector<double> norms;
  Values weights, averaged;
  std::vector<std::pair<std::string, Values>> state;
  bool operator==(const TrainingOutcome&) const = default;
};

Values values_of(const Tensor& x) { return {x.values().begin(), x.values().end()}; }

Values values_of(const Tensor& a, const Tensor& b) {
  Values both = values_of(a);
  both.insert(both.end(), b.values().begin(), b.values().end());
  return both;
}

std::vector<std::pair<std::string, Values>> all_values_of(
    const std::vector<NamedParameter>& tensors) {
  std::vector<std::pair<std::string, Values>> all;
  for (const auto& [name, tensor] : tensors) all.emplace_back(name, values_of(tensor));
  return all;
}

// Trains parameters of several chunks for four steps. The gradients are the sums of eight shards.
// Resumes after the second step with another number of ranks.
class SharedTraining {
 public:
  SharedTraining(const OptimOptions& options, const AverageOptions& average)
      : options_(options), average_(average) {}

  TrainingOutcome run(int before, int after) {
    steps_ = 0;
    outcome_ = {};
    for (const int ranks : {before, after}) on_ranks(ranks, [&] { run_two_steps(); });
    return outcome_;
  }

 private:
  void run_two_steps() {
    Tensor w = parameter(Shape{120, 301}, [](int64_t i) { return rank_wave(i, 3); });
    Tensor b = parameter(Shape{17}, [](int64_t i) { return rank_wave(i, 4); });
    Optimizer optimizer(options_, {{"w", w}, {"b", b}});
    WeightAverage average(optimizer.layout().arena, average_);
    const int64_t begin = steps_;
    if (begin > 0) {
      const auto end_of_b = outcome_.averaged.begin() + b.size();
      std::copy(outcome_.averaged.begin(), end_of_b, b.mutable_data());
      std::copy(end_of_b, outcome_.averaged.end(), w.mutable_data());
      const std::vector<NamedParameter> state = state_of(optimizer), averaged = average.state();
      read(state);
      read(averaged);
      load_state(optimizer, begin, state);
      average.load_state(averaged);
      average.restore(begin);
    }
    for (int64_t step = begin + 1; step <= begin + 2; ++step) {
      optimizer.zero_grad();
      give_gradients(w, b, step);
      const double norm = optimizer.step(0.5);
      average.update(step);
      if (rank() == 0) outcome_.norms.push_back(norm);
    }
    const Values weights = values_of(b, w);
    average.apply(begin + 2);
    const std::vector<NamedParameter> state = state_of(optimizer), averaged = average.state();
    if (rank() > 0) {
      CHECK(state.empty());
      return;
    }
    outcome_.weights = weights;
    outcome_.averaged = values_of(b, w);
    outcome_.state = all_values_of(state);
    for (auto& each : all_values_of(averaged)) outcome_.state.push_back(std::move(each));
    steps_ = begin + 2;
  }

  void read(const std::vector<NamedParameter>& tensors) const {
    for (const auto& [name, tensor] : tensors)
      for (const auto& [saved, values] : outcome_.state)
        if (saved == name) std::copy(values.begin(), values.end(), Tensor(tensor).mutable_data());
  }

  static void give_gradients(Tensor& w, Tensor& b, int64_t step) {
    std::vector<Values> of_w, of_b;
    const int64_t own = 8 / rank_count();
    for (int64_t shard = rank() * own; shard < (rank() + 1) * own; ++shard) {
      of_w.push_back(rank_waves(w.size(), step * 8 + shard));
      of_b.push_back(rank_waves(b.size(), step * 8 + shard + 3));
    }
    give_gradient(w, [sum = tree_sum(of_w)](int64_t i) { return sum[static_cast<size_t>(i)]; });
    give_gradient(b, [sum = tree_sum(of_b)](int64_t i) { return sum[static_cast<size_t>(i)]; });
  }
  OptimOptions options_;
  AverageOptions average_;
  int64_t steps_ = 0;
  TrainingOutcome outcome_;
};

}  // namespace

TEST_CASE("RankSlices: sums are those of one tree, for any number of ranks and size") {
  for (const int ranks : {1, 2, 4, 8})
    for (const int64_t size : {8, 64, 104, 8 * 37, (1 << 20) + 40}) {
      CAPTURE(ranks);
      CAPTURE(size);
      std::vector<Values> arrays;
      for (int64_t r = 0; r < ranks; ++r) arrays.push_back(rank_waves(size, r));
      const Values expected = tree_sum(arrays);
      std::vector<Values> results(arrays.size());
      Values whole(static_cast<size_t>(size)), back;
      on_ranks(ranks, [&] {
        RankSlices slices(size, 8);
        const auto me = static_cast<size_t>(rank());
        Values array = arrays[me];
        slices.sum(array.data());
        Values own(array.begin() + slices.own().first, array.begin() + slices.own().last);
        real* const all = rank() == 0 ? whole.data() : nullptr;
        slices.copy(own.data(), all, /*to_whole=*/true);
        Values again(own.size());
        slices.copy(again.data(), all, /*to_whole=*/false);
        slices.gather(array.data());
        results[me] = own == again ? array : Values();
      });
      for (const Values& result : results) CHECK(result == expected);
      CHECK(whole == expected);
    }
}

TEST_CASE("RankSlices: the same sums if parts are final before, in another order on each rank") {
  constexpr int64_t size = (1 << 20) + 40, step = 8 * 1001;
  for (const int ranks : {2, 4}) {
    CAPTURE(ranks);
    std::vector<Values> arrays;
    for (int64_t r = 0; r < ranks; ++r) arrays.push_back(rank_waves(size, r));
    const Values expected = tree_sum(arrays);
    std::vector<int> equal(arrays.size());
    on_ranks(ranks, [&] {
      const auto me = static_cast<size_t>(rank());
      RankSlices slices(size, 8);
      for (int round = 0; round < 3; ++round) {
        Values array = arrays[me];
        const int64_t parts = (size + step - 1) / step;
        for (int64_t i = 0; i < parts; ++i) {
          if (round == 1 && i % (rank() + 2) == 0) continue;  // these are left for sum()
          const int64_t first = step * (rank() % 2 == 0 ? i : parts - 1 - i);
          slices.mark_final(array.data(), {first, std::min(first + step, size)});
          slices.advance(array.data());
        }
        slices.sum(array.data());
        slices.gather(array.data());
        equal[me] += array == expected;
      }
    });
    CHECK(equal == std::vector<int>(arrays.size(), 3));
  }
}

namespace {

// times · Σ xᵢ + y, where x is an input so many times. Its backward writes down the messages that
// this rank has sent by then.
Tensor add_sum(const Tensor& x, size_t times, const Tensor& y, std::vector<int>& sent) {
  std::vector<Tensor> inputs(times, x);
  inputs.push_back(y);
  return record("add_sum", Tensor::scalar(0), inputs, [&sent, times, n = x.size()](Backward& g) {
    sent.push_back(static_cast<ThreadRank*>(Ranks::current)->sent);
    for (int i = 0; i <= static_cast<int>(times); ++i) {
      if (!g.wants(i)) continue;
      const Destination to = g.into(i);
      for (int64_t k = 0; k < (i < static_cast<int>(times) ? n : 1); ++k)
        to.data[k] = to.accumulate ? to.data[k] + 1 : 1;
    }
  });
}

}  // namespace

TEST_CASE("Arena::last_backward: a gradient is sent once nothing will be added to it") {
  on_ranks(2, [] {
    // Rank 0 keeps the first, rank 1 the others.
    Tensor a = parameter(Shape{8192}, [](int64_t) { return 1; });
    Tensor b = parameter(Shape{8192 - Arena::line}, [](int64_t) { return 1; });
    Tensor c = parameter(Shape{}, [](int64_t) { return 1; });
    Arena arena({{"a", a}, {"b", b}, {"c", c}});
    int& all_sent = static_cast<ThreadRank*>(Ranks::current)->sent;
    for (int step = 0; step < 2; ++step) {
      all_sent = 0;
      arena.zero_grad();
      std::vector<int> sent;
      // Backward passes these operations from the last to the first.
      Tensor y = add_sum(a, 1, {}, sent);
      y = add_sum(b, 1, y, sent);
      y = add_sum(c, 2, y, sent);
      y = add_sum(b, 1, y, sent);
      arena.last_backward(y);
      // Rank 0 sends b and c, which are final with the third; rank 1 sends a.
      const std::vector<int> expected =
          rank() == 0 ? std::vector{0, 0, 0, 1} : std::vector{0, 0, 0, 0};
      check(sent == expected && all_sent == 1, "rank {} sent {} before the last, in all {}", rank(),
            sent.back(), all_sent);
      arena.complete_gradients();
      arena.sum_gradients();
      arena.gather_gradients();
      const auto all_are = [](const Tensor& x, real value) {
        const Values found = values_of(x.grad());
        return std::count(found.begin(), found.end(), value) == x.size();
      };
      check(all_are(a, 2) && all_are(b, 4) && all_are(c, 4), "the sums");
    }
  });
}

TEST_CASE("RankSlices: an array of a number for each grain") {
  for (const int ranks : {2, 4, 8}) {
    CAPTURE(ranks);
    std::vector<double> expected(10);
    for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<double>(i) + 0.5;
    on_ranks(ranks, [&] {
      const RankSlices slices(8 * 9 + 1, 8);
      std::vector<double> own(expected.size(), -1);
      for (int64_t i = slices.own().first; i < slices.own().last; ++i)
        own[static_cast<size_t>(i / 8)] = expected[static_cast<size_t>(i / 8)];
      slices.gather_by_grain(own.data());
      check(own == expected, "another array");
    });
  }
}

TEST_CASE("ranks: the same steps, averages and saved state for any number of them") {
  OptimOptions sgd, adamw;
  sgd.kind = &optimizers::sgd;
  sgd.momentum = 0.9;
  adamw.weight_decay = 0.1;
  adamw.amsgrad = true;
  sgd.clip_norm = adamw.clip_norm = 1;
  for (const auto& [options, average] :
       {std::pair{sgd, AverageOptions{}}, std::pair{adamw, AverageOptions{.ema = 0.9}},
        std::pair{adamw, AverageOptions{.snapshots = 3}}}) {
    SharedTraining training(options, average);
    const TrainingOutcome one = training.run(1, 1);
    CHECK(one.norms.size() == 4);
    for (const auto& ranks : {std::pair{2, 2}, {4, 1}, {1, 8}, {8, 2}}) {
      CAPTURE(ranks.first);
      CAPTURE(ranks.second);
      CHECK(training.run(ranks.first, ranks.second) == one);
    }
  }
}

TEST_CASE("ranks keep only their slices of an optimizer's arrays") {
  on_ranks(4, [] {
    Tensor w = parameter(Shape{4, 8192}, [](int64_t) { return 1; });
    Optimizer optimizer({}, {{"w", w}});
    check(optimizer.layout().arena.own().size() == 8192, "a slice of {}",
          optimizer.layout().arena.own().size());
  });
}
