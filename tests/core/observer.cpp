// An observer is notified of every operation once, forward and backward, and of every block of
// memory.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/autograd.h"
#include "core/ops.h"
#include "core/pool.h"
#include "core/stage_observer.h"

namespace heed::inline HEED_REAL {
namespace {

using Log = std::vector<std::string>;

struct Listener : StageObserver {
  Log log;
  std::map<uint64_t, std::string> made;  // by the order of the node
  std::map<const void*, int64_t> blocks;
  int64_t live = 0, from_before = 0;

  void op_finished(const char* name, const Tensor& y, std::span<const Tensor> inputs,
                   const Node* node) noexcept override {
    log.push_back(
        fmt::format("{} {} of {}{}", name, y.shape(), inputs.size(), node ? "" : ", not recorded"));
    if (node) made[node->order] = name;
  }
  void backward_started(const Node& node) noexcept override {
    log.push_back("begin " + made.at(node.order));
  }
  void backward_finished(const Node& node, const Slot& output) noexcept override {
    log.push_back(fmt::format("end {} {}", node.name, output.gradient->size));
  }
  void stage_finished(const char* what) noexcept override { log.emplace_back(what); }
  void allocated(const void* block, int64_t bytes) noexcept override {
    blocks[block] = bytes;
    live += bytes;
  }
  void freed(const void* block, int64_t bytes) noexcept override {
    live -= bytes;
    if (blocks.contains(block))
      CHECK(blocks[block] == bytes);
    else
      from_before += bytes;
    blocks.erase(block);
  }
};

Tensor weight() {
  Tensor w = Tensor::full({3, 2}, 1);
  w.set_requires_grad();
  return w;
}

TEST_CASE("observer: operations after they run, the start and the end of each backward") {
  const Tensor w = weight(), x = Tensor::full({4, 2}, 1);
  Listener listener;
  {
    const ObserverScope observation(listener);
    const Tensor y = linear(x, w);
    stage_finished("a pause");
    backward(sum(exp(y)));
  }
  CHECK(listener.log == Log{"linear [4, 3] of 3", "a pause", "exp [4, 3] of 1", "sum [] of 1",
                            "begin sum", "end sum 1", "begin exp", "end exp 12", "begin linear",
                            "end linear 12"});
}

TEST_CASE("observer: operations without gradients are observed too") {
  Listener listener;
  const ObserverScope observation(listener);
  const Tensor x = Tensor::full({2}, 1);
  exp(x);
  Tensor w = Tensor::full({2}, 1);
  w.set_requires_grad();
  NoGradients here;
  add(x, w);
  CHECK(listener.log == Log{"exp [2] of 1, not recorded", "add [2] of 2, not recorded"});
}

TEST_CASE("observer: every block of the pool is reported") {
  const Tensor w = weight();
  Tensor before = Tensor::zeros({100});
  Listener listener;
  const int64_t live = pool_statistics().live_bytes;
  {
    const ObserverScope observation(listener);
    const Tensor y = linear(Tensor::full({400, 2}, 1), w);
    CHECK(listener.live == pool_statistics().live_bytes - live);
    CHECK(listener.live >= int64_t{400 * 3 * sizeof(real)});
    backward(sum(y));
    CHECK(listener.live == pool_statistics().live_bytes - live);
    CHECK(listener.from_before == 0);
    before = {};  // allocated before the observation
    CHECK(listener.from_before >= int64_t{100 * sizeof(real)});
    CHECK(listener.live == pool_statistics().live_bytes - live);
  }
  const size_t known = listener.blocks.size();
  const Tensor unseen = Tensor::zeros({5});
  CHECK(listener.blocks.size() == known);
}

TEST_CASE("observer: all that observe are notified, the innermost first, and none afterwards") {
  struct Named : StageObserver {
    Named(const char* n, Log& l) : name(n), log(l) {}
    void stage_finished(const char* stage) noexcept override {
      log.push_back(fmt::format("{} {}", name, stage));
    }
    const char* name;
    Log& log;
  };
  Log order;
  Named outer("outer", order), inner("inner", order);
  {
    const ObserverScope first(outer);
    stage_finished("one");
    {
      const ObserverScope second(inner);
      stage_finished("two");
    }
    stage_finished("three");
  }
  stage_finished("four");
  CHECK_FALSE(ObserverScope::exists());
  CHECK(order == Log{"outer one", "inner two", "outer two", "outer three"});
}

TEST_CASE("observer: what it throws comes out of the operation, and nothing is left recorded") {
  struct Thrower : Observer {
    void op_finished(const char* name, const Tensor&, std::span<const Tensor>,
                     const Node*) override {
      throw Error(fmt::format("saw {}", name));
    }
  } thrower;
  const Tensor w = weight();
  pool_trim();
  const int64_t live = pool_statistics().live_bytes;
  {
    const ObserverScope observation(thrower);
    CHECK_THROWS_WITH_AS(exp(w), "saw exp", Error);
  }
  CHECK(pool_statistics().live_bytes == live);
  backward(sum(exp(w)));
  CHECK(w.grad().data()[0] == doctest::Approx(std::exp(1)));
}

TEST_CASE("observer: a backward that throws starts and does not finish") {
  Tensor w = weight();
  Listener listener;
  const ObserverScope observation(listener);
  const Tensor y = sum(exp(w * w));
  w.mutable_data()[0] = 5;
  CHECK_THROWS_AS(backward(y), Error);
  CHECK(listener.log.back() == "begin mul");
}

}  // namespace
}  // namespace heed::inline HEED_REAL
