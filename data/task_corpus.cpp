// A generated task as a corpus.
//
// A task of at most a million problems is listed: each split has every problem whose hash falls in
// its share, or as many of them as asked for. Of a larger one, "val" and "test" are so many
// distinct problems drawn at random from their share; "train" is not stored: example i is drawn
// when it is asked for, from a random stream named by (seed, i), again and again until its hash is
// in training's share.
#include <fmt/core.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/check.h"
#include "data/framing.h"
#include "data/loaders.h"
#include "data/split.h"
#include "data/tasks/task.h"

namespace heed {

namespace {

constexpr int64_t most_listed = 1 << 20;
constexpr int64_t endless = int64_t{1} << 40;
constexpr int64_t held_out_size = 1000;  // of a task too large to list, unless the config says so

bool is_listed(const Task& task) { return task.count(most_listed + 1) <= most_listed; }

class DrawnProblems final : public Dataset {
 public:
  DrawnProblems(Task task, Shares shares, Layout layout, uint64_t seed, int64_t size)
      : task_(std::move(task)), shares_(shares), layout_(layout), seed_(seed), size_(size) {}

  int64_t size() const override { return size_; }
  void get(int64_t i, Example& example) const override {
    Random random(seed_, Purpose::task, static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32));
    do task_.draw(random, problem_);
    while (shares_.of(stable_hash(problem_.question)) != Split::train);
    layout_.lay_out(problem_.question, problem_.answer, example);
  }

 private:
  Task task_;
  Shares shares_;
  Layout layout_;
  uint64_t seed_;
  int64_t size_;
  mutable Problem problem_;  // working space that keeps its capacity
};

struct Problems {
  Sequences questions, answers;
  void add(const Problem& problem) {
    questions.add(problem.question);
    answers.add(problem.answer);
  }
};

// The problems that `belongs(hash)` accepts: all of them, or the `wanted` with the least hashes, as
// many as there are.
template <class Belongs>
Problems list_problems(const Task& task, int64_t wanted, Belongs belongs) {
  std::vector<std::pair<uint64_t, int64_t>> found;
  Problem problem;
  for (int64_t index = 0, count = task.count(most_listed); index < count; ++index) {
    if (!task.list(index, problem)) continue;
    const uint64_t hash = stable_hash(problem.question);
    if (belongs(hash)) found.emplace_back(hash, index);
  }
  std::sort(found.begin(), found.end());
  if (wanted > 0 && static_cast<size_t>(wanted) < found.size())
    found.resize(static_cast<size_t>(wanted));
  Problems problems;
  for (const auto& [hash, index] : found) {
    task.list(index, problem);
    problems.add(problem);
  }
  return problems;
}

// `wanted` distinct problems that `belongs(hash)` accepts, or fewer if they are too hard to find.
template <class Belongs>
Problems draw_problems(const Task& task, int64_t wanted, Random random, Belongs belongs) {
  std::unordered_set<uint64_t> seen;
  Problems problems;
  Problem problem;
  for (int64_t tries = 1000 * wanted; tries > 0 && problems.questions.size() < wanted; --tries) {
    task.draw(random, problem);
    const uint64_t hash = stable_hash(problem.question);
    if (belongs(hash) && seen.insert(hash).second) problems.add(problem);
  }
  return problems;
}

class TaskLoader {
 public:
  TaskLoader(const DataOptions& options, Framing framing, uint64_t seed)
      : options_(options),
        seed_(seed),
        task_(make_task(options, {options.lengths[0], options.lengths[1]})),
        codec_(task_codec(
            task_.level, task_.symbols, framing,
            task_.lengths.least == task_.lengths.most && options.longer_lengths.empty())),
        layout_(framing, codec_->vocabulary()) {
    corpus_.source = corpus_.target = codec_;
    if (framing == Framing::classifier) corpus_.labels = task_.labels;
  }

  Corpus load() {
    const Shares shares{options_.val_fraction, options_.test_fraction};
    const auto in = [shares](Split split) {
      return [=](uint64_t hash) { return shares.of(hash) == split; };
    };
    if (is_listed(task_)) {
      hold("train", task_, options_.train_size, 0, in(Split::train));
    } else {
      const int64_t size = options_.train_size > 0 ? options_.train_size : endless;
      corpus_.notes.push_back(options_.train_size > 0 ? fmt::format("train: {} problems", size)
                                                      : "train: problems drawn without end");
      corpus_.splits["train"] =
          std::make_unique<DrawnProblems>(task_, shares, layout_, seed_, size);
      measure_longest(task_);
    }
    if (shares.val > 0) hold("val", task_, options_.val_size, 1, in(Split::val));
    if (shares.test > 0) hold("test", task_, options_.test_size, 2, in(Split::test));
    if (!options_.longer_lengths.empty())
      hold("test_longer",
           make_task(options_, {options_.longer_lengths[0], options_.longer_lengths[1]}),
           options_.test_size, 3, [](uint64_t) { return true; });
    return std::move(corpus_);
  }

 private:
  // Stores the split: `size` problems, 0 for as many as there are.
  template <class Belongs>
  void hold(const char* name, const Task& task, int64_t size, uint32_t stream, Belongs belongs) {
    if (size == 0 && !is_listed(task)) size = held_out_size;
    Problems found =
        is_listed(task)
            ? list_problems(task, size, belongs)
            : draw_problems(task, size, Random(seed_, Purpose::task, 0, 0, stream), belongs);
    const int64_t count = found.questions.size();
    check_input(
        count > 0 && count >= size,
        "data: the split {} would need {} problems, and only {} fall in its share "
        "(data.val_fraction = {}, data.test_fraction = {}): ask for fewer or change its share",
        name, std::max(size, int64_t{1}), count, options_.val_fraction, options_.test_fraction);
    corpus_.notes.push_back(fmt::format("{}: {} problems", name, count));
    corpus_.splits[name] = std::make_unique<StoredPairs>(std::move(found.questions),
                                                         std::move(found.answers), layout_);
    measure_longest(task);
  }

  void measure_longest(Task task) {
    task.lengths.least = task.lengths.most;
    Random random(0, Purpose::task);
    Problem problem;
    task.draw(random, problem);
    Example example;
    layout_.lay_out(problem.question, problem.answer, example);
    corpus_.measure(example);
  }

  const DataOptions& options_;
  uint64_t seed_;
  Task task_;
  std::shared_ptr<const TextCodec> codec_;
  Layout layout_;
  Corpus corpus_;
};

}  // namespace

Corpus load_task(const DataOptions& options, Framing framing, uint64_t seed) {
  return TaskLoader(options, framing, seed).load();
}

}  // namespace heed
