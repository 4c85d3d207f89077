#include "data/tasks/task.h"

#include "core/check.h"

namespace heed {

void Task::draw(Random& random, Problem& problem) const {
  do {
    const uint64_t spread = static_cast<uint64_t>(lengths.most - lengths.least) + 1;
    const uint64_t length = static_cast<uint64_t>(lengths.least) + random.below(spread);
    problem.question.resize(length);
    for (int32_t& symbol : problem.question)
      symbol = static_cast<int32_t>(random.below(static_cast<uint64_t>(base)));
  } while (!pose(problem));
}

// base^length, or `limit` if that is less.
static int64_t power(int64_t base, int64_t length, int64_t limit) {
  int64_t product = 1;
  for (int64_t i = 0; i < length; ++i) {
    if (product > limit / base) return limit;
    product *= base;
  }
  return product;
}

int64_t Task::count(int64_t limit) const {
  int64_t total = 0;
  for (int64_t length = lengths.least; length <= lengths.most && total < limit; ++length)
    total += std::min(power(base, length, limit), limit - total);
  return total;
}

bool Task::list(int64_t index, Problem& problem) const {
  int64_t length = lengths.least;
  for (int64_t shorter; (shorter = power(base, length, index + 1)) <= index; ++length)
    index -= shorter;
  problem.question.resize(static_cast<size_t>(length));
  for (auto symbol = problem.question.rbegin(); symbol != problem.question.rend(); ++symbol) {
    *symbol = static_cast<int32_t>(index % base);
    index /= base;
  }
  return pose(problem);
}

Task make_task(const DataOptions& options, Lengths lengths) {
  switch (options.kind) {
    case DataKind::copy:
      return copy_task(options, lengths);
    case DataKind::reverse:
      return reverse_task(options, lengths);
    case DataKind::sort:
      return sort_task(options, lengths);
    case DataKind::addition:
      return addition_task(options);
    case DataKind::modular:
      return modular_task(options);
    case DataKind::parity:
      return parity_task(lengths);
    default:
      throw_error("tasks: this kind of data is read from files", {});
  }
}

std::shared_ptr<const TextCodec> task_codec(Level level, std::vector<std::string> symbols,
                                            Framing framing, bool one_length) {
  const bool continues = framing == Framing::language_model && !one_length;
  if (framing == Framing::seq2seq) symbols.push_back(begin_symbol);
  if (continues) symbols.push_back(separator_symbol);
  if (continues || framing == Framing::seq2seq) symbols.push_back(end_symbol);
  return std::make_shared<TextCodec>(level, std::move(symbols));
}

std::vector<std::string> numbers(int64_t count) {
  std::vector<std::string> symbols;
  symbols.reserve(static_cast<size_t>(count));
  for (int64_t number = 0; number < count; ++number) symbols.push_back(std::to_string(number));
  return symbols;
}

}  // namespace heed
