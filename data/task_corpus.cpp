// The data of a generated task.
//
// Tasks from sequences to sequences are listed or drawn by data/generated.h. All splits of other
// tasks are drawn as its training examples are, and validation and test may repeat a content.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/check.h"
#include "data/generated.h"
#include "data/tasks/task.h"

namespace heed {

namespace {

// Reserves as much as any example needs, so that later ones fit.
void reserve(const Task& task, Example& example) {
  const int64_t positions = std::max(task.longest_source, task.longest_input);
  const auto edges = static_cast<size_t>(task.max_edges);
  example.features.reserve(static_cast<size_t>(positions * task.format.features));
  example.sender.reserve(edges);
  example.receiver.reserve(edges);
  example.edge_features.reserve(edges * static_cast<size_t>(task.format.edge_features));
}

Dataset drawn(const Task& task, const Selection& selection, int64_t size) {
  const auto write = [task, selection](int64_t i, Example& example) {
    thread_local Content content;  // working space
    reserve(task, example);
    Random random = selection.random(i);
    do task.draw(random, example, content);
    while (!selection.contains(content));
    if (task.noise == 0) return;
    for (float& feature : example.features)
      feature += static_cast<float>(task.noise * random.normal());
  };
  return feature_dataset(task.format, size, write);
}

// Returns whether drawing takes few tries: detects splits with less than 1 in 1,000 examples.
template <class Draw>
bool has_enough(const Selection& selection, Draw draw) {
  Random random = selection.random(0);
  int found = 0;
  for (int tries = 10'000; tries > 0 && found < 10; --tries)
    found += selection.contains(draw(random));
  return found == 10;
}

class TaskLoader {
 public:
  TaskLoader(const DataOptions& options, ModelKind framing, uint64_t seed)
      : options_(options), framing_(framing), seed_(seed) {}

  Corpus load() {
    add({{"train", options_.train_size, Split::train},
         {"val", options_.val_size, Split::val},
         {"test", options_.test_size, Split::test}},
        options_.lengths);
    if (!options_.longer_lengths.empty())
      add({{"test_longer", options_.test_size, std::nullopt}}, options_.longer_lengths);
    return std::move(corpus_);
  }

 private:
  struct Part {
    const char* name;
    int64_t size;  // as in the options, 0 for the default
    std::optional<Split> split;
  };

  void add(std::initializer_list<Part> parts, const std::vector<int64_t>& range) {
    const Lengths lengths{range[0], range[1]};
    if (options_.kind->task)
      add_drawn(parts, options_.kind->task(options_, lengths));
    else
      add_sequences(parts, options_.kind->sequence_task(options_, lengths));
  }

  void add_drawn(std::initializer_list<Part> parts, const Task& task) {
    if (corpus_.splits.empty()) {
      corpus_.format = task.format;
      corpus_.grid = task.grid;
      corpus_.source = task.source;
      corpus_.target = task.target;
      corpus_.labels = task.labels;
    }
    corpus_.max_edges = std::max(corpus_.max_edges, task.max_edges);
    for (const Part& part : parts) {
      if (is_empty(part)) continue;
      const Selection selection{seed_, fractions_, part.split};
      check_enough(part, selection,
                   [&task, example = Example(),
                    content = Content()](Random& random) mutable -> const Content& {
                     task.draw(random, example, content);
                     return content;
                   });
      const int64_t all = part.split == Split::train ? unlimited : held_out_size;
      store(part.name, drawn(task, selection, part.size ? part.size : all), task.longest_source,
            task.longest_input);
    }
  }

  void add_sequences(std::initializer_list<Part> parts, const SequenceTask& task) {
    if (corpus_.splits.empty()) {
      const bool one_length =
          task.lengths.least == task.lengths.most && options_.longer_lengths.empty();
      corpus_.source = corpus_.target =
          task_codec(options_.kind->level, task.tokens, framing_, one_length);
      if (framing_ == ModelKind::classifier) corpus_.labels = options_.kind->labels(options_);
    }
    const Layout layout(framing_, corpus_.target->vocabulary());
    const Example longest = longest_example(task, layout);
    for (const Part& part : parts) {
      if (is_empty(part)) continue;
      const Selection selection{seed_, fractions_, part.split};
      const bool is_drawn = !is_listed(task) && part.split == Split::train;
      if (is_drawn)
        check_enough(
            part, selection,
            [&task, pair = SequencePair() ](Random & random) mutable -> const auto& {
              task.draw(random, pair);
              return pair.source;
            });
      Dataset examples = generated(task, layout, selection, part.size);
      if (!is_drawn)
        check_size(part.name, is_listed(task) || part.size ? part.size : held_out_size,
                   examples.size);
      store(part.name, std::move(examples), std::ssize(longest.source), std::ssize(longest.input));
    }
  }

  static Example longest_example(SequenceTask task, const Layout& layout) {
    task.lengths.least = task.lengths.most;
    Random random(0, Purpose::task);
    SequencePair pair;
    Example example;
    task.draw(random, pair);
    layout.lay_out(pair.source, pair.target, example);
    return example;
  }

  bool is_empty(const Part& part) const {
    return (part.split == Split::val && fractions_.val == 0) ||
           (part.split == Split::test && fractions_.test == 0);
  }

  template <class Draw>
  void check_enough(const Part& part, const Selection& selection, Draw draw) const {
    check_input(has_enough(selection, std::move(draw)),
                "data: almost no example falls into the split {} (`val_fraction` = {}, "
                "`test_fraction` = {}): raise the fraction, or make the task more varied",
                part.name, fractions_.val, fractions_.test);
  }

  void check_size(const char* name, int64_t requested, int64_t found) const {
    check_input(found > 0 && found >= requested,
                "data: the split {} needs {} examples, and only {} fall into it (`val_fraction` = "
                "{}, `test_fraction` = {}): ask for fewer or change the fraction",
                name, std::max(requested, int64_t{1}), found, fractions_.val, fractions_.test);
  }

  void store(const char* name, Dataset examples, int64_t longest_source, int64_t longest_input) {
    corpus_.notes.push_back(examples.size == unlimited
                                ? fmt::format("{}: unlimited examples", name)
                                : fmt::format("{}: {} examples", name, examples.size));
    corpus_.splits[name] = std::move(examples);
    corpus_.longest_source = std::max(corpus_.longest_source, longest_source);
    corpus_.longest_input = std::max(corpus_.longest_input, longest_input);
  }

  const DataOptions& options_;
  ModelKind framing_;
  uint64_t seed_;
  SplitFractions fractions_{options_.val_fraction, options_.test_fraction};
  Corpus corpus_;
};

}  // namespace

Corpus load_task(const DataOptions& options, ModelKind framing, uint64_t seed) {
  return TaskLoader(options, framing, seed).load();
}

}  // namespace heed
