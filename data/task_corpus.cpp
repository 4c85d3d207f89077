// The data of a generated task.
//
// A task of at most a million examples is enumerated: each split has all examples whose hash falls
// into it, or as many of them as the config asks for. Of larger tasks, training examples are not
// stored: example i is drawn when it is needed, from a random stream named by (seed, split, i),
// until the hash of its content falls into the split. Validation and test of a task that could be
// enumerated are distinct examples, drawn once; those of other tasks are drawn as training is, and
// may repeat a content.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/check.h"
#include "data/split.h"
#include "data/tasks/sequence_task.h"

namespace heed {

namespace {

constexpr int64_t unlimited = int64_t{1} << 40;
constexpr int64_t held_out_size = 1000;  // default, for tasks that are too large to enumerate

class GeneratedExamples final : public Dataset {
 public:
  using Get = std::function<void(int64_t i, Example& example, Content& content)>;
  GeneratedExamples(ExampleFormat format, int64_t size, Get get)
      : format_(format), size_(size), get_(std::move(get)) {}

  int64_t size() const override { return size_; }
  ExampleFormat format() const override { return format_; }
  void get(int64_t i, Example& example) const override {
    thread_local Content content;  // working space
    get_(i, example, content);
  }

 private:
  ExampleFormat format_;
  int64_t size_;
  Get get_;
};

// The examples of one split.
struct Selection {
  uint64_t seed;
  uint32_t stream;  // a different one for each split
  SplitFractions fractions;
  std::optional<Split> split;  // none: any content

  bool contains(const Content& content) const {
    return !split || fractions.split_of(stable_hash(content)) == *split;
  }
  Random random(int64_t i) const {
    return Random(seed, Purpose::task, static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32),
                  stream);
  }
};

// Returns whether drawing takes few tries: detects splits with less than 1 in 1,000 examples.
bool has_enough(const Task& task, const Selection& selection) {
  Random random = selection.random(0);
  Example example;
  Content content;
  int found = 0;
  for (int tries = 10'000; tries > 0 && found < 10; --tries) {
    task.draw(random, example, content);
    found += selection.contains(content);
  }
  return found == 10;
}

GeneratedExamples::Get drawn(const Task& task, const Selection& selection) {
  return [=](int64_t i, Example& example, Content& content) {
    Random random = selection.random(i);
    do task.draw(random, example, content);
    while (!selection.contains(content));
    if (task.noise == 0) return;
    for (float& feature : example.features)
      feature += static_cast<float>(task.noise * random.normal());
  };
}

// The indices of all examples of the split, or of the `size` > 0 with the smallest hashes.
std::vector<int64_t> listed(const Task& task, const Selection& selection, int64_t size) {
  std::vector<std::pair<uint64_t, int64_t>> found;
  Example example;
  Content content;
  for (int64_t i = 0; i < task.count; ++i)
    if (task.list(i, example, content) && selection.contains(content))
      found.emplace_back(stable_hash(content), i);
  std::sort(found.begin(), found.end());
  if (size > 0 && static_cast<size_t>(size) < found.size()) found.resize(static_cast<size_t>(size));
  std::vector<int64_t> indices;
  for (const auto& [hash, i] : found) indices.push_back(i);
  return indices;
}

// The random streams of `size` distinct examples of the split, or of fewer if they are rare.
std::vector<Random> distinct(const Task& task, const Selection& selection, int64_t size) {
  std::vector<Random> streams;
  std::unordered_set<uint64_t> seen;
  Random random = selection.random(0);
  Example example;
  Content content;
  for (int64_t tries = 1000 * size; tries > 0 && std::ssize(streams) < size; --tries) {
    const Random before = random;
    task.draw(random, example, content);
    if (selection.contains(content) && seen.insert(stable_hash(content)).second)
      streams.push_back(before);
  }
  return streams;
}

class TaskLoader {
 public:
  TaskLoader(const DataOptions& options, Framing framing, uint64_t seed)
      : options_(options), framing_(framing), seed_(seed) {}

  Corpus load() {
    const Task task = make_task(options_.lengths);
    corpus_.format = task.format;
    corpus_.grid = task.grid;
    corpus_.source = task.source;
    corpus_.target = task.target;
    corpus_.labels = task.labels;
    add("train", task, options_.train_size, 0, Split::train);
    if (fractions_.val > 0) add("val", task, options_.val_size, 1, Split::val);
    if (fractions_.test > 0) add("test", task, options_.test_size, 2, Split::test);
    if (!options_.longer_lengths.empty())
      add("test_longer", make_task(options_.longer_lengths), options_.test_size, 3, std::nullopt);
    return std::move(corpus_);
  }

 private:
  Task make_task(const std::vector<int64_t>& range) const {
    const Lengths lengths{range[0], range[1]};
    if (options_.kind->task) return options_.kind->task(options_, lengths);
    SequenceTask task = options_.kind->sequence_task(options_, lengths);
    const bool one_length =
        task.lengths.least == task.lengths.most && options_.longer_lengths.empty();
    return task_of(std::move(task), framing_, one_length);
  }

  // `size`: as in the options, 0 for the default.
  void add(const char* name, const Task& task, int64_t size, uint32_t stream,
           std::optional<Split> split) {
    const Selection selection{seed_, stream, fractions_, split};
    GeneratedExamples::Get get;
    if (task.count > 0 && task.count < Task::limit) {
      std::vector<int64_t> indices = listed(task, selection, size);
      size = checked_size(name, size, std::ssize(indices));
      get = [task, indices = std::move(indices)](int64_t i, Example& example, Content& content) {
        task.list(indices[static_cast<size_t>(i)], example, content);
      };
    } else if (task.count > 0 && split != Split::train) {
      if (size == 0) size = held_out_size;
      std::vector<Random> streams = distinct(task, selection, size);
      size = checked_size(name, size, std::ssize(streams));
      get = [task, streams = std::move(streams)](int64_t i, Example& example, Content& content) {
        Random random = streams[static_cast<size_t>(i)];
        task.draw(random, example, content);
      };
    } else {
      if (size == 0) size = split == Split::train ? unlimited : held_out_size;
      check_keys(has_enough(task, selection), {"data.val_fraction", "data.test_fraction"},
                 "data: almost no example falls into the split {} (data.val_fraction = {}, "
                 "data.test_fraction = {}): raise the fraction, or make the task more varied",
                 name, fractions_.val, fractions_.test);
      get = drawn(task, selection);
    }
    corpus_.notes.push_back(size == unlimited ? fmt::format("{}: unlimited examples", name)
                                              : fmt::format("{}: {} examples", name, size));
    corpus_.splits[name] = std::make_unique<GeneratedExamples>(task.format, size, std::move(get));
    corpus_.longest_source = std::max(corpus_.longest_source, task.longest_source);
    corpus_.longest_input = std::max(corpus_.longest_input, task.longest_input);
    corpus_.most_edges = std::max(corpus_.most_edges, task.most_edges);
  }

  int64_t checked_size(const char* name, int64_t requested, int64_t found) const {
    check_keys(found > 0 && found >= requested, {"data.val_fraction", "data.test_fraction"},
               "data: the split {} needs {} examples, and only {} fall into it "
               "(data.val_fraction = {}, data.test_fraction = {}): ask for fewer or change the "
               "fraction",
               name, std::max(requested, int64_t{1}), found, fractions_.val, fractions_.test);
    return found;
  }

  const DataOptions& options_;
  Framing framing_;
  uint64_t seed_;
  SplitFractions fractions_{options_.val_fraction, options_.test_fraction};
  Corpus corpus_;
};

}  // namespace

Corpus load_task(const DataOptions& options, Framing framing, uint64_t seed) {
  return TaskLoader(options, framing, seed).load();
}

}  // namespace heed
