// Defines data/generated.h: listed, distinct and drawn examples.
#include "data/generated.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

namespace heed {

Random Selection::random(int64_t i) const {
  const uint32_t stream = split ? static_cast<uint32_t>(*split) : 3;  // none of the splits
  return Random(seed, Purpose::task, static_cast<uint32_t>(i), static_cast<uint32_t>(i >> 32),
                stream);
}

namespace {

// The numbers of all examples in the selection, or of the `size` > 0 with the smallest hashes.
std::vector<int64_t> listed(const SequenceTask& task, const Selection& selection, int64_t size) {
  std::vector<std::pair<uint64_t, int64_t>> found;
  SequencePair pair;
  for (int64_t i = 0, count = task.count(unlimited); i < count; ++i)
    if (task.list(i, pair) && selection.contains(pair.source))
      found.emplace_back(stable_hash(pair.source), i);
  std::sort(found.begin(), found.end());
  if (size > 0 && size < std::ssize(found)) found.resize(static_cast<size_t>(size));
  std::vector<int64_t> numbers;
  for (const auto& [hash, i] : found) numbers.push_back(i);
  return numbers;
}

// The random streams of `size` distinct examples, or of fewer if they are rare.
std::vector<Random> distinct(const SequenceTask& task, const Selection& selection, int64_t size) {
  std::vector<Random> streams;
  std::unordered_set<uint64_t> seen;
  Random random = selection.random(0);
  SequencePair pair;
  for (int64_t tries = 1000 * size; tries > 0 && std::ssize(streams) < size; --tries) {
    const Random before = random;
    task.draw(random, pair);
    if (selection.contains(pair.source) && seen.insert(stable_hash(pair.source)).second)
      streams.push_back(before);
  }
  return streams;
}

}  // namespace

bool is_listed(const SequenceTask& task) { return task.count((1 << 20) + 1) <= 1 << 20; }

Dataset generated(const SequenceTask& task, Layout layout, Selection selection, int64_t size) {
  std::function<void(int64_t, SequencePair&)> get;
  if (is_listed(task)) {
    std::vector<int64_t> numbers = listed(task, selection, size);
    size = std::ssize(numbers);
    get = [task, numbers = std::move(numbers)](int64_t i, SequencePair& to) {
      task.list(numbers[static_cast<size_t>(i)], to);
    };
  } else if (selection.split == Split::train) {
    if (size == 0) size = unlimited;
    get = [task, selection](int64_t i, SequencePair& to) {
      Random random = selection.random(i);
      do task.draw(random, to);
      while (!selection.contains(to.source));
    };
  } else {
    std::vector<Random> streams = distinct(task, selection, size > 0 ? size : held_out_size);
    size = std::ssize(streams);
    get = [task, streams = std::move(streams)](int64_t i, SequencePair& to) {
      Random random = streams[static_cast<size_t>(i)];
      task.draw(random, to);
    };
  }
  return {size, [layout, get = std::move(get)](int64_t i, Example& example) {
            thread_local SequencePair pair;  // working space
            get(i, pair);
            layout.lay_out(pair.source, pair.target, example);
          }};
}

}  // namespace heed
