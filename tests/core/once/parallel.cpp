// Parallel loops.
#include "core/parallel.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "core/abandon.h"
#include "core/check.h"
#include "core/ops.h"
#include "core/processors.h"
#include "core/random.h"

namespace heed::inline HEED_REAL {
namespace {

// Restores the number of threads.
struct ThreadCount {
  int before = thread_count();
  explicit ThreadCount(int count) { set_thread_count(count); }
  ~ThreadCount() { set_thread_count(before); }
};

TEST_CASE("threads: the processes of a machine share its cores, unless the user has chosen") {
  const ThreadCount here(2);
  const char* const variable = "OMP_NUM_THREADS";
  const std::string before = std::getenv(variable) ? std::getenv(variable) : "";
  setenv(variable, "2", 1);
  share_cores(1'000'000);
  CHECK(thread_count() == 2);
  unsetenv(variable);
  share_cores(1'000'000);
  CHECK(thread_count() == (is_bound() ? 2 : 1));
  if (!before.empty()) setenv(variable, before.c_str(), 1);
}

TEST_CASE("run_workers: each worker once, loops on its thread, the first exception") {
  for (const int threads : {1, 2, 5}) {
    const ThreadCount here(threads);
    for (const int count : {1, 2, 4}) {
      std::vector<int> calls(static_cast<size_t>(count));
      std::atomic<bool> loops_stay = true;
      run_workers(count, [&](int worker) {
        ++calls[static_cast<size_t>(worker)];
        const Tensor mine = Tensor::full({3}, real(worker));  // from the pool of the thread
        const auto self = std::this_thread::get_id();
        if (count > 1)
          parallel_for(100, 1, [&](int64_t, int64_t) {
            if (std::this_thread::get_id() != self) loops_stay = false;
          });
        CHECK(sum(mine).item() == 3 * worker);
      });
      CHECK(std::count(calls.begin(), calls.end(), 1) == count);
      CHECK(loops_stay);
      CHECK_THROWS_WITH_AS(
          run_workers(count, [](int worker) { throw Error(worker == 0 ? "first" : "other"); }),
          "first", Error);
      CHECK(current_worker() == 0);
    }
  }
}

TEST_CASE("run_workers: inside a worker or a loop, the calling thread serves all") {
  const ThreadCount here(3);
  std::atomic<int> calls = 0;
  std::atomic<bool> stayed = true;
  auto nested = [&](int outer) {
    const auto self = std::this_thread::get_id();
    const int own = current_worker();
    auto inner = [&](int worker) {
      calls += 1 + 100 * worker;
      if (std::this_thread::get_id() != self || current_worker() != own) stayed = false;
      if (worker > 0) throw Error(worker == 1 ? "first" : "other");
    };
    try {
      run_workers(3, inner);
      stayed = false;
    } catch (const Error& error) {
      if (error.what() != std::string("first")) stayed = false;
    }
    if (current_worker() != own) stayed = false;  // the rest of the worker is in the loop as before
    calls += 10'000 * outer;
  };
  run_workers(3, nested);
  CHECK(calls == 3 * (3 + 300) + 10'000 * 3);
  parallel_for(4, 1, [&](int64_t, int64_t) { nested(0); });
  CHECK(calls == 7 * (3 + 300) + 10'000 * 3);
  CHECK(stayed);
  CHECK(current_worker() == 0);
}

TEST_CASE("parallel_for: every index once, in chunks that do not depend on the number of threads") {
  for (const int threads : {1, 2, 5}) {
    const ThreadCount here(threads);
    for (const int64_t n : {0, 1, 7, 8, 9, 100})
      for (const int64_t grain : {1, 3, 8, 1000}) {
        std::vector<std::atomic<int>> times(static_cast<size_t>(n));
        std::atomic<bool> chunks_fit = true, workers_fit = true;
        parallel_for(n, grain, [&](int64_t first, int64_t last) {
          if (first % grain != 0 || last != std::min(n, first + grain)) chunks_fit = false;
          if (current_worker() < 0 || current_worker() >= threads) workers_fit = false;
          for (int64_t i = first; i < last; ++i) ++times[static_cast<size_t>(i)];
        });
        CHECK(chunks_fit);
        CHECK(workers_fit);
        for (const std::atomic<int>& t : times) CHECK(t == 1);
      }
  }
  CHECK(current_worker() == 0);
}

TEST_CASE("parallel_for: a loop inside a loop runs on the calling worker") {
  const ThreadCount here(3);
  std::atomic<int64_t> total = 0;
  std::atomic<bool> stayed = true;
  parallel_for(6, 1, [&](int64_t i, int64_t) {
    const int worker = current_worker();
    parallel_for(10, 2, [&](int64_t first, int64_t last) {
      if (current_worker() != worker) stayed = false;
      total += (last - first) * i;
    });
  });
  CHECK(stayed);
  CHECK(total == 10 * (0 + 1 + 2 + 3 + 4 + 5));
}

std::atomic<int> begun = 0;  // chunks
bool after_three() { return begun >= 3; }

TEST_CASE("parallel_for: a thread that abandons its work ends between chunks, and throws") {
  for (const int threads : {1, 3}) {
    const ThreadCount here(threads);
    const auto run = [] {
      begun = 0;
      std::atomic<int> inside = 0;
      parallel_for(1000, 1, [&](int64_t, int64_t) {
        ++begun;
        parallel_for(10, 1, [&](int64_t, int64_t) { ++inside; });
      });
      CHECK(inside == 10 * begun);
    };
    run();
    CHECK(begun == 1000);
    const ValueGuard<AbandonTest> abandoning(abandons, after_three);
    CHECK_THROWS_AS(run(), Abandoned);
    CHECK(begun >= 3);
    CHECK(begun < 3 + threads);
    CHECK((abandons == after_three));
    std::atomic<int> workers = 0;
    CHECK_THROWS_AS(run_workers(2,
                                [&](int) {
                                  ++workers;
                                  check_not_abandoned();
                                  const ValueGuard<AbandonTest> own(abandons, after_three);
                                  parallel_for(1000, 1, [](int64_t, int64_t) { ++begun; });
                                }),
                    Abandoned);
    CHECK(workers == 2);
    CHECK(begun < 3 + threads);
  }
}

TEST_CASE("parallel_for: a loop of little work runs on the calling thread") {
  const ThreadCount here(3);
  const auto workers = [](int64_t work) {
    std::atomic<int> highest = 0;
    parallel_for(
        300, 1, [&](int64_t, int64_t) { highest = std::max<int>(highest, current_worker()); },
        work);
    return highest + 1;
  };
  CHECK(workers(chunk_elements) == 1);
  CHECK(workers(0) == 1);
  const ValueGuard one(Threads::here().limit, 1);
  CHECK(workers(300 * chunk_elements) == 1);
}

TEST_CASE("thread budget: fewer threads while the machine is busy") {
  ThreadBudget budget;
  const auto busy = [&](int most) { budget.observe(0.04, 0.02, 4, most); };
  const auto quiet_for = [&](double seconds, int most) {
    for (double t = 0; t < seconds - 1e-9; t += 0.04) budget.observe(0.04, 0.0399, 0, most);
  };
  CHECK(budget.threads(2) == 2);
  budget.observe(0.04, 0.01, 0, 2);   // slept, but nothing was suspended: a file was read
  budget.observe(0.04, 0.039, 9, 2);  // suspended, but hardly waited
  budget.observe(1, 0.5, 9, 2);       // few suspensions for the time
  CHECK(budget.threads(2) == 2);
  busy(2);
  CHECK(budget.threads(2) == 1);
  quiet_for(0.2, 2);
  CHECK(budget.threads(2) == 1);
  quiet_for(0.08, 2);  // the pause of 0.25 s is over
  CHECK(budget.threads(2) == 2);
  for (const double pause : {0.5, 1.0, 2.0, 4.0, 4.0}) {  // each try comes too early
    busy(2);
    CHECK(budget.threads(2) == 1);
    quiet_for(pause - 0.08, 2);
    CHECK(budget.threads(2) == 1);
    quiet_for(0.12, 2);
    CHECK(budget.threads(2) == 2);
  }
  quiet_for(5, 2);
  busy(2);  // after a long quiet time the pause is short again
  quiet_for(0.28, 2);
  CHECK(budget.threads(2) == 2);
}

TEST_CASE("thread budget: a quarter of the threads at a time, never less than one") {
  ThreadBudget budget;
  std::vector<int> threads;
  for (int i = 0; i < 12; ++i) {
    budget.observe(0.04, 0.02, 4, 16);
    threads.push_back(budget.threads(16));
  }
  CHECK(threads == std::vector<int>{12, 9, 7, 6, 5, 4, 3, 2, 1, 1, 1, 1});
  for (int i = 0; i < 1000; ++i) budget.observe(0.04, 0.04, 0, 16);
  CHECK(budget.threads(16) == 16);
}

// Steps of `most` threads and of one that take these seconds, until `seconds` have passed; returns
// the time of the steps that one thread computed.
double time_of_one(ThreadTrial& trial, double all, double one, double seconds) {
  double time = 0, time_one = 0;
  while (time < seconds) {
    const bool is_one = trial.threads(4) == 1;
    const double step = is_one ? one : all;
    trial.step_done(step, 100);
    time += step;
    if (is_one) time_one += step;
  }
  return time_one / time;
}

TEST_CASE("thread trial: one thread for steps that it computes faster, all for the others") {
  for (const double step : {2e-5, 1e-3, 1.5e-2}) {
    CAPTURE(step);
    ThreadTrial trial;
    CHECK(trial.threads(4) == 4);
    CHECK(time_of_one(trial, step, 2 * step, 10) < 0.06);
    CHECK(time_of_one(trial, step, 0.9 * step, 90) > 0.6);  // the machine has become busy
    CHECK(time_of_one(trial, step, 0.9 * step, 100) > 0.97);
    CHECK(time_of_one(trial, step, 0.5 * step, 100) > 0.98);
    CHECK(trial.threads(1) == 1);
  }
  ThreadTrial large;  // never tried
  CHECK(time_of_one(large, 0.03, 0.01, 100) == 0);
}

// The settings of the first steps, '1' for one thread and 'a' for all, by a clock that says how
// long step i takes with all threads or with one.
template <class Seconds>
std::string first_settings(int steps, const Seconds& seconds) {
  ThreadTrial trial;
  std::string settings;
  for (int i = 0; i < steps; ++i) {
    const bool is_one = trial.threads(4) == 1;
    settings += is_one ? '1' : 'a';
    trial.step_done(seconds(i, is_one), 100);
  }
  return settings;
}

TEST_CASE(
    "thread trial: decides within 20 steps, and sooner where all threads are clearly faster") {
  for (const double step : {2e-5, 5e-3, 1.5e-2}) {
    CAPTURE(step);
    const auto settings = [&](double all, double one) {
      return first_settings(60, [&](int, bool is_one) { return step * (is_one ? one : all); });
    };
    const std::string rest(40, 'a');
    CHECK(settings(1, 1.6) == "aaaaa111aaaaaaaaaaaa" + rest);
    CHECK(settings(1, 1.3) == "aaaaa111aaa111aaaaaa" + rest);
    CHECK(settings(1, 1.1) == "aaaaa111aaa111aaa111" + rest);
    CHECK(settings(1, 0.9) == "aaaaa111aaa111aaa111" + std::string(40, '1'));
    CHECK(settings(1, 0.3) == "aaaaa111aaa111aaa111" + std::string(40, '1'));
  }
}

TEST_CASE("thread trial: takes at most one percent of a run of 500 steps that need all threads") {
  double time = 0;
  first_settings(500, [&](int, bool is_one) {
    time += is_one ? 0.0075 : 0.005;
    return is_one ? 0.0075 : 0.005;
  });
  CHECK(time < 1.01 * 500 * 0.005);
}

TEST_CASE("thread trial: takes at most a twentieth of the time where one thread is far slower") {
  // All threads of a large machine take 15 ms, one takes a second.
  double time = 0, of_one = 0;
  first_settings(100'000, [&](int, bool is_one) {
    const double step = is_one ? 1 : 0.015;
    time += step;
    if (is_one) of_one += step;
    return step;
  });
  CHECK(of_one <= time / 20);
}

TEST_CASE("thread trial: one slow step does not decide it") {
  for (int slow = 0; slow < 20; ++slow) {
    CAPTURE(slow);
    for (const double one : {0.8, 1.3}) {
      const std::string settings = first_settings(
          60, [&](int i, bool is_one) { return 1e-3 * (is_one ? one : 1) * (i == slow ? 10 : 1); });
      CHECK(settings.substr(20) == std::string(40, one < 1 ? '1' : 'a'));
    }
  }
}

TEST_CASE("thread trial: batches of different lengths do not decide it") {
  // A step of L tokens takes as long as 100 + L do; short batches have a lower rate.
  Random random(3, Purpose::test);
  for (const double one : {0.7, 1.4}) {
    int wrong = 0;
    for (int run = 0; run < 1000; ++run) {
      ThreadTrial trial;
      for (int i = 0; i < 20; ++i) {
        const double tokens = 32.0 * static_cast<double>(1 + random.below(25));
        trial.step_done(1e-5 * (100 + tokens) * (trial.threads(2) == 1 ? one : 1), tokens);
      }
      wrong += (trial.threads(2) == 1) != (one < 1);
    }
    CHECK(wrong < 20);
  }
}

TEST_CASE("threads: another thread computes the same bits") {
  const auto product = [] {
    Tensor a = Tensor::empty({19, 452}), b = Tensor::empty({452, 204});
    Random random(1, Purpose::test);
    for (Tensor* t : {&a, &b})
      for (int64_t i = 0; i < t->size(); ++i)
        t->mutable_data()[i] = static_cast<real>(random.normal());
    const Tensor c = matmul(a, b);
    return std::vector<real>(c.values().begin(), c.values().end());
  };
  std::vector<real> elsewhere;
  std::thread([&] { elsewhere = product(); }).join();
  CHECK(elsewhere == product());
}

TEST_CASE("threads: fewer than one are rejected") {
  CHECK(physical_cores() >= 1);  // and a core has one hardware thread or more
  CHECK(physical_cores() <= std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
  CHECK_THROWS_AS(set_thread_count(0), Error);
  CHECK(chunk_rows(0) == chunk_elements);
  CHECK(chunk_rows(2 * chunk_elements) == 1);
}

}  // namespace
}  // namespace heed::inline HEED_REAL
