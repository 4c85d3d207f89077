#include "data/example_stream.h"

#include <chrono>
#include <utility>

#include "core/abandon.h"
#include "core/check.h"
#include "data/program_splits.h"

namespace heed {

static size_t numbers_of(const Example& example) {
  return example.source.size() + example.input.size() + example.target.size() +
         example.features.size() + example.edge_features.size() + example.global.size();
}

ExampleStream::ExampleStream(ExampleProgram program, uint64_t seed,
                             std::unique_ptr<LineSource> source, int64_t next, Read read)
    : program_(std::move(program)),
      seed_(seed),
      read_(std::move(read)),
      source_(std::move(source)),
      next_(next) {}

ExampleStream::~ExampleStream() { stop(); }

void ExampleStream::start() {
  ended_ = stops_ = false;
  thread_ = std::thread([this] { read_ahead(); });
}

void ExampleStream::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  source_->stop();
  thread_.join();
}

void ExampleStream::read_ahead() {
  std::string line;
  try {
    for (int64_t i = next_; source_->next(line); ++i) {
      Example example;
      read_(line, i, example);
      std::vector<std::string> errors = source_->take_errors();
      std::unique_lock lock(mutex_);
      errors_.insert(errors_.end(), errors.begin(), errors.end());
      changed_.wait(lock, [this] { return stops_ || !is_full_; });
      if (stops_) return;
      numbers_ += numbers_of(example);
      ready_.push_back(std::move(example));
      is_full_ = ready_.size() >= most_ready || numbers_ >= most_numbers;
      if (ready_.size() == 1) changed_.notify_all();
    }
  } catch (...) {
    error_ = std::current_exception();  // get() reads it after the end
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void ExampleStream::get(int64_t i, Example& example) {
  if (i != next_) {
    stop();
    ready_.clear();
    numbers_ = 0;
    is_full_ = false;
    source_ = program_.start(Split::train, seed_, i);
    next_ = i;
  }
  if (!thread_.joinable()) start();
  std::unique_lock lock(mutex_);
  const auto can_go_on = [this] { return ended_ || !ready_.empty(); };
  while (!can_go_on()) {
    const auto start = std::chrono::steady_clock::now();
    changed_.wait_for(lock, std::chrono::milliseconds(100), can_go_on);
    waited_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    check_not_abandoned();
  }
  for (const std::string& line : std::exchange(errors_, {})) program_.log(line);
  if (ready_.empty()) {
    next_ = -1;  // another call starts the program again
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    throw InputError(end_of_program(program_, *source_, Split::train, i));
  }
  example = std::move(ready_.front());
  ready_.pop_front();
  ++next_;
  numbers_ -= numbers_of(example);
  if (!is_full_ || ready_.size() > most_ready / 2 || numbers_ > most_numbers / 2) return;
  is_full_ = false;
  changed_.notify_all();
}

}  // namespace heed
