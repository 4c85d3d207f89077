// A task of drawn examples as a corpus.
//
// No split is stored: example i is drawn when it is asked for, from a random stream named by (seed,
// split, i), again and again until the hash of its content is in the split's share; then comes the
// noise. In one split a content may come more than once, as examples that are drawn will.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/check.h"
#include "data/loaders.h"
#include "data/split.h"
#include "data/tasks/drawn.h"

namespace heed {

namespace {

constexpr int64_t endless = int64_t{1} << 40;
constexpr int64_t held_out_size = 1000;  // unless the config says so

struct Source {
  uint64_t seed;
  uint32_t stream;  // one a split
  Shares shares;
  std::optional<Split> split;  // none: any content will do
};

class DrawnExamples final : public Dataset {
 public:
  DrawnExamples(DrawnTask task, Source source, int64_t size)
      : task_(std::move(task)), source_(source), size_(size) {}

  int64_t size() const override { return size_; }
  ExampleFormat format() const override { return task_.format; }
  void get(int64_t i, Example& example) const override {
    Random random(source_.seed, Purpose::task, static_cast<uint32_t>(i),
                  static_cast<uint32_t>(i >> 32), source_.stream);
    do task_.draw(random, example, content_);
    while (!belongs());
    if (task_.noise == 0) return;
    for (float& feature : example.features)
      feature += static_cast<float>(task_.noise * random.normal());
  }

  // Whether get() need not search long: a share of 1 in 1,000 is seen.
  bool has_enough() const {
    Random random(source_.seed, Purpose::task, 0, 0, source_.stream);
    Example example;
    int found = 0;
    for (int tries = 10'000; tries > 0 && found < 10; --tries) {
      task_.draw(random, example, content_);
      found += belongs();
    }
    return found == 10;
  }

 private:
  bool belongs() const {
    return !source_.split || source_.shares.of(stable_hash(content_)) == *source_.split;
  }

  DrawnTask task_;
  Source source_;
  int64_t size_;
  mutable Content content_;  // working space that keeps its capacity
};

class DrawnLoader {
 public:
  DrawnLoader(const DataOptions& options, Framing framing, uint64_t seed)
      : options_(options), shares_{options.val_fraction, options.test_fraction}, seed_(seed) {
    corpus_.framing = framing;
  }

  Corpus load() {
    const DrawnTask task = make_drawn_task(options_, {options_.lengths[0], options_.lengths[1]});
    corpus_.format = task.format;
    corpus_.grid = task.grid;
    corpus_.source = task.source;
    corpus_.target = task.target;
    corpus_.labels = task.labels;
    add("train", task, options_.train_size > 0 ? options_.train_size : endless, 0, Split::train);
    if (shares_.val > 0) add("val", task, held_out(options_.val_size), 1, Split::val);
    if (shares_.test > 0) add("test", task, held_out(options_.test_size), 2, Split::test);
    if (!options_.longer_lengths.empty())
      add("test_longer",
          make_drawn_task(options_, {options_.longer_lengths[0], options_.longer_lengths[1]}),
          held_out(options_.test_size), 3, std::nullopt);
    return std::move(corpus_);
  }

 private:
  static int64_t held_out(int64_t size) { return size > 0 ? size : held_out_size; }

  void add(const char* name, const DrawnTask& task, int64_t size, uint32_t stream,
           std::optional<Split> split) {
    auto examples =
        std::make_unique<DrawnExamples>(task, Source{seed_, stream, shares_, split}, size);
    check_input(examples->has_enough(),
                "data: hardly any example falls in the share of the split {} (data.val_fraction = "
                "{}, data.test_fraction = {}): make the share larger, or the task more varied",
                name, options_.val_fraction, options_.test_fraction);
    corpus_.notes.push_back(size == endless ? fmt::format("{}: examples drawn without end", name)
                                            : fmt::format("{}: {} examples", name, size));
    corpus_.splits[name] = std::move(examples);
    corpus_.longest_source = std::max(corpus_.longest_source, task.longest_source);
    corpus_.longest_input = std::max(corpus_.longest_input, task.longest_input);
  }

  const DataOptions& options_;
  Shares shares_;
  uint64_t seed_;
  Corpus corpus_;
};

}  // namespace

Corpus load_drawn(const DataOptions& options, Framing framing, uint64_t seed) {
  return DrawnLoader(options, framing, seed).load();
}

}  // namespace heed
