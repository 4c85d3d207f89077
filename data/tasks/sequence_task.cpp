// Defines data/tasks/sequence_task.h: draws, counts and lists the pairs of a task.
#include "data/tasks/sequence_task.h"

#include <algorithm>

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
  // The sources of the least length come first, then those of the next. Among those of one length,
  // i is the source as a number in base `base`.
  int64_t length = lengths.least;
  for (int64_t shorter; (shorter = power(base, length, i + 1)) <= i; ++length) i -= shorter;
  pair.source.resize(static_cast<size_t>(length));
  for (auto id = pair.source.rbegin(); id != pair.source.rend(); ++id) {
    *id = static_cast<int32_t>(i % base);
    i /= base;
  }
  return solve(pair);
}

SequenceTask number_task(int64_t symbols, Lengths lengths, void (*solve)(SequencePair&)) {
  return {.tokens = numbered(symbols),
          .base = symbols,
          .lengths = lengths,
          .solve = [solve](SequencePair& pair) {
            solve(pair);
            return true;
          }};
}

std::vector<std::string> numbered(int64_t count, const char* prefix) {
  std::vector<std::string> names;
  for (int64_t number = 0; number < count; ++number)
    names.push_back(prefix + std::to_string(number));
  return names;
}

}  // namespace heed
