#include "data/tasks/sequence_task.h"

#include "data/framing.h"

namespace heed {

void SequenceTask::draw(Random& random, SequencePair& pair) const {
  do {
    pair.source.resize(static_cast<size_t>(any_length(random, lengths)));
    for (int32_t& id : pair.source) id = any_below(random, base);
  } while (!solve(pair));
}

// base^length, at most `limit`.
static int64_t power(int64_t base, int64_t length, int64_t limit) {
  int64_t product = 1;
  for (int64_t i = 0; i < length; ++i) {
    if (product > limit / base) return limit;
    product *= base;
  }
  return product;
}

int64_t SequenceTask::count(int64_t limit) const {
  int64_t total = 0;
  for (int64_t length = lengths.least; length <= lengths.most && total < limit; ++length)
    total += std::min(power(base, length, limit), limit - total);
  return total;
}

bool SequenceTask::list(int64_t i, SequencePair& pair) const {
  int64_t length = lengths.least;
  for (int64_t shorter; (shorter = power(base, length, i + 1)) <= i; ++length) i -= shorter;
  pair.source.resize(static_cast<size_t>(length));
  for (auto id = pair.source.rbegin(); id != pair.source.rend(); ++id) {
    *id = static_cast<int32_t>(i % base);
    i /= base;
  }
  return solve(pair);
}

Task task_of(SequenceTask sequences, Framing framing, bool one_length) {
  Task task;
  task.source = task.target = task_codec(sequences.level, sequences.tokens, framing, one_length);
  if (framing == Framing::classifier) task.labels = sequences.labels;
  task.count = sequences.count(Task::limit);
  const auto write = [layout = Layout(framing, task.target->vocabulary())](
                         const SequencePair& pair, Example& example, Content& content) {
    layout.lay_out(pair.source, pair.target, example);
    content = pair.source;
  };

  SequenceTask longest = sequences;
  longest.lengths.least = longest.lengths.most;
  Random random(0, Purpose::task);
  SequencePair pair;
  Example example;
  Content content;
  longest.draw(random, pair);
  write(pair, example, content);
  task.longest_source = static_cast<int64_t>(example.source.size());
  task.longest_input = static_cast<int64_t>(example.input.size());

  task.draw = [=](Random& stream, Example& to, Content& shown) {
    thread_local SequencePair drawn;  // working space
    sequences.draw(stream, drawn);
    write(drawn, to, shown);
  };
  task.list = [=](int64_t i, Example& to, Content& shown) {
    thread_local SequencePair listed;  // working space
    if (!sequences.list(i, listed)) return false;
    write(listed, to, shown);
    return true;
  };
  return task;
}

}  // namespace heed
