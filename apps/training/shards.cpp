#include "apps/training/shards.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "apps/inference/evaluation.h"
#include "apps/support/numbers.h"
#include "apps/support/together.h"
#include "core/abandon.h"
#include "core/anomaly.h"
#include "core/autograd.h"
#include "core/bind.h"
#include "core/parallel.h"

namespace heed {
namespace {

// to[i] += from[i] in [first, last)
void add_range(const real* from, real* to, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i) to[i] += from[i];
}

// Adds numbers pairwise, neighbours first, like the gradients of shards. Changes them.
double sum_of_tree(std::span<double> numbers) {
  for (size_t width = 1; width < numbers.size(); width *= 2)
    for (size_t i = 0; i + width < numbers.size(); i += 2 * width) numbers[i] += numbers[i + width];
  return numbers[0];
}

// What the shards of all ranks came to, in the same tree.
StepGradient sum_over_ranks(const StepGradient& own) {
  StepGradient all;
  std::vector<double> losses;
  for (const StepGradient& each : from_all_ranks(own)) {
    losses.push_back(each.loss);
    all.targets += each.targets;
    all.tokens += each.tokens;
  }
  all.loss = sum_of_tree(losses);
  return all;
}

}  // namespace

void check_shared(int64_t shards) {
  check_input(shards % rank_count() == 0,
              "`train.shards` is {}, which {} processes cannot share equally: set it to a multiple "
              "of {}, or start fewer processes (mpirun -n)",
              shards, rank_count(), rank_count());
}

OwnShards::OwnShards(int64_t shards) : count(shards / rank_count()), are_all(count == shards) {
  check_shared(shards);
  first = rank() * count;
}

std::span<const Example* const> shard_of(std::span<const Example* const> batch, int64_t index,
                                         int64_t shards) {
  const int64_t size = std::ssize(batch);
  check(index >= 0 && index < shards && shards <= size,
        "batches: there is no shard {} of {} in a batch of {}", index, shards, size);
  const int64_t first = size * index / shards, last = size * (index + 1) / shards;
  return batch.subspan(static_cast<size_t>(first), static_cast<size_t>(last - first));
}

class Shards::Instance {
 public:
  // The model itself.
  Instance(const Model& model, Arena& arena) : model_(model), arena_(arena) {}
  // Another one, for the calling thread.
  Instance(const Shards& shards, const std::vector<Shared>& parameters)
      : own_(make(shards, parameters)),
        own_arena_(std::make_unique<Arena>(shards.arena_, own_->parameters())),
        model_(*own_),
        arena_(*own_arena_) {}

  // Adds up the gradients of own shards [first, last), which are a subtree, and writes their
  // losses.
  void run(const Shards& shards, std::span<const Batch> batches, int64_t step, int64_t first,
           int64_t last, double* losses) {
    ScopeGuard here;
    here->training = here->gradients = true;
    here->precision = shards.experiment_.precision;
    here->seed = static_cast<uint64_t>(shards.experiment_.seed);
    here->step = static_cast<uint32_t>(step);
    AnomalyDetector detector;
    std::optional<ObserverScope> detecting, observing;
    if (shards.experiment_.train.detect_anomaly) detecting.emplace(detector);
    if (shards.observer_) observing.emplace(*shards.observer_);
    const OwnShards own = shards.own_;
    const int64_t count = shards.experiment_.train.shards;
    for (int64_t s = first; s < last; ++s) {
      arena_.zero_grad();
      losses[s] = 0;
      for (int64_t i = s; i < std::ssize(batches); i += own.count) {
        check_not_abandoned();
        // The random streams of this batch depend only on seed, step, micro-batch and shard.
        here->micro_batch = static_cast<uint32_t>(i / own.count * count + own.first + s);
        here->calls = 0;
        const bool is_last = own.count == 1 && i + 1 == std::ssize(batches);
        losses[s] += run_batch(batches[static_cast<size_t>(i)], shards.smoothing_, is_last);
      }
      if (own.count > 1) add_waiting(s - first, s + 1 == last);
    }
  }

  real* gradients() const { return arena_.gradients(); }

 private:
  static std::unique_ptr<Model> make(const Shards& shards, const std::vector<Shared>& parameters) {
    ScopeGuard here;
    here->initialise = false;
    std::unique_ptr<Model> model = make_model(shards.experiment_.model, shards.sizes_);
    auto shared = parameters.begin();
    for (NamedParameter& own : model->parameters()) {
      own.tensor.set_requires_grad(shared->trained);
      if (!shared->trained)  // the arena binds the others
        own.tensor.body().storage = borrow(shared->elements, own.tensor.size());
      ++shared;
    }
    return model;
  }

  // Accumulates the gradient of a batch, if its loss is finite, and returns its sum of losses. With
  // `is_last` nothing else is added to the gradient of this rank.
  double run_batch(const Batch& batch, const LabelSmoothing& smoothing, bool is_last) const {
    const Tensor loss = batch.numbers
                            ? squared_error(model_.logits(batch), batch.numbers, Reduction::sum)
                            : model_.loss(batch, batch.target, Reduction::sum, smoothing);
    const double value = loss.item();
    if (!std::isfinite(value)) return value;
    is_last ? arena_.last_backward(loss) : backward(loss);
    return value;
  }

  // After shard number `index`, from 0: adds the subtrees that are complete with it. Their sum
  // waits for its right half, unless it is the last.
  void add_waiting(int64_t index, bool is_last) {
    arena_.complete_gradients();
    real* const sum = gradients();
    size_t level = 0;
    for (; index >> level & 1; ++level)
      arena_.for_each_range([=, left = waiting_[level]->data](int64_t first, int64_t last, bool) {
        add_range(left, sum, first, last);
      });
    if (is_last) return;
    if (waiting_.size() == level) waiting_.push_back(arena_.similar());
    arena_.for_each_range([=, to = waiting_[level]->data](int64_t first, int64_t last, bool) {
      std::copy(sum + first, sum + last, to + first);
    });
  }

  std::unique_ptr<Model> own_;
  std::unique_ptr<Arena> own_arena_;
  const Model& model_;
  Arena& arena_;
  std::vector<Handle<Storage>> waiting_;  // the sums of a subtree of each level
};

Shards::Shards(const Experiment& experiment, const ModelSizes& sizes,
               const LabelSmoothing& smoothing, Model& model, Arena& arena)
    : experiment_(experiment),
      sizes_(sizes),
      smoothing_(smoothing),
      model_(model),
      arena_(arena),
      own_(experiment.train.shards),
      losses_(static_cast<size_t>(own_.count)) {}

Shards::~Shards() = default;

StepGradient Shards::run(std::span<const Batch> batches, int64_t step) {
  const int64_t count = own_.count;
  check(std::ssize(batches) % count == 0, "{} batches are not a multiple of {} shards",
        batches.size(), count);
  // An observer sees only the calling thread.
  const int threads = scope().shapes_only || ObserverScope::exists() ? 1 : Threads::of_parts(count);
  std::vector<Shared> parameters;
  if (std::ssize(instances_) < threads) {
    instances_.resize(static_cast<size_t>(threads));
    for (const NamedParameter& p : model_.parameters())
      parameters.push_back({p.tensor.storage()->data, p.tensor.requires_grad()});
  }
  run_workers(threads, [&, is_abandoned = abandons](int thread) {
    const ValueGuard<AbandonTest> here(abandons, is_abandoned);
    std::unique_ptr<Instance>& instance = instances_[static_cast<size_t>(thread)];
    if (!instance)
      instance = thread == 0 ? std::make_unique<Instance>(model_, arena_)
                             : std::make_unique<Instance>(*this, parameters);
    instance->run(*this, batches, step, count * thread / threads, count * (thread + 1) / threads,
                  losses_.data());
  });
  check_not_abandoned();
  if (threads > 1) add_instances(threads);
  return summary(batches);
}

void check_finite(const char* name, double value) {
  if (!std::isfinite(value)) throw Diverged(fmt::format("{} is {}", name, number_in_words(value)));
}

StepGradient Shards::summary(std::span<const Batch> batches) {
  StepGradient result = {.loss = sum_of_tree(losses_)};
  for (const Batch& batch : batches) {
    result.targets += batch.targets;
    result.tokens += batch.tokens;
  }
  if (!own_.are_all) result = sum_over_ranks(result);
  check_finite("the loss", result.loss);
  return result;
}

void Shards::add_instances(int threads) {
  arena_.for_each_range([&](int64_t first, int64_t last, bool) {
    for (int width = 1; width < threads; width *= 2)
      for (int i = 0; i < threads; i += 2 * width)
        add_range(instances_[static_cast<size_t>(i + width)]->gradients(),
                  instances_[static_cast<size_t>(i)]->gradients(), first, last);
  });
}

}  // namespace heed
