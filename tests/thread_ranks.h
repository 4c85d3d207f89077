// Ranks (core/ranks.h) that are threads of this process, for tests without MPI.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/ranks.h"

namespace heed::inline HEED_REAL {

// Messages between the ranks, in the order in which each sends to another.
class Mailboxes {
 public:
  void send(int from, int to, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    boxes_[{from, to}].emplace_back(bytes.begin(), bytes.end());
    arrived_.notify_all();
  }
  void receive(int from, int to, std::span<std::byte> bytes) {
    std::unique_lock lock(mutex_);
    auto& box = boxes_[{from, to}];
    arrived_.wait(lock, [&] { return !box.empty(); });
    check(box.front().size() == bytes.size(), "rank {} expects {} bytes of {}, not {}", to,
          bytes.size(), from, box.front().size());
    std::copy(box.front().begin(), box.front().end(), bytes.begin());
    box.pop_front();
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> boxes_;
};

class ThreadRank final : public Ranks {
 public:
  ThreadRank(Mailboxes& boxes, int index, int count)
      : boxes_(boxes), index_(index), count_(count) {}
  int index() const override { return index_; }
  int count() const override { return count_; }
  void exchange(int partner, std::span<const std::byte> to, std::span<std::byte> from) override {
    if (!to.empty()) boxes_.send(index_, partner, to);
    if (!from.empty()) boxes_.receive(partner, index_, from);
  }
  void all_gather(std::span<std::byte> all) override {
    const size_t size = all.size() / static_cast<size_t>(count_);
    const auto part = [&](int rank) { return all.subspan(size * static_cast<size_t>(rank), size); };
    for (int other = 0; other < count_; ++other)
      if (other != index_) boxes_.send(index_, other, part(index_));
    for (int other = 0; other < count_; ++other)
      if (other != index_) boxes_.receive(other, index_, part(other));
  }
  void broadcast(std::span<std::byte> bytes) override {
    if (index_ > 0) return boxes_.receive(0, index_, bytes);
    for (int other = 1; other < count_; ++other) boxes_.send(0, other, bytes);
  }
  void abort(int) override { std::terminate(); }

 private:
  Mailboxes& boxes_;
  int index_, count_;
};

// Calls f() on a thread for each rank. An exception must be thrown by all of them, before they wait
// for one another; the first is thrown again.
template <class F>
void on_ranks(int count, F&& f) {
  Mailboxes boxes;
  std::vector<std::exception_ptr> errors(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (int index = 0; index < count; ++index)
    threads.emplace_back([&, index] {
      ThreadRank rank(boxes, index, count);
      scope().ranks = count > 1 ? &rank : nullptr;
      try {
        f();
      } catch (...) {
        errors[static_cast<size_t>(index)] = std::current_exception();
      }
      scope().ranks = nullptr;
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace heed::inline HEED_REAL
