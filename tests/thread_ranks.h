// Ranks (core/ranks.h) that are threads of this process, for tests without MPI.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "core/ranks.h"

namespace heed::inline HEED_REAL {

// Messages between the ranks, for each sender, receiver and tag in the order in which they were
// sent.
class Mailboxes {
 public:
  struct Address {
    int from, to, tag;
    auto operator<=>(const Address&) const = default;
  };
  void send(const Address& address, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    boxes_[address].emplace_back(bytes.begin(), bytes.end());
    arrived_.notify_all();
  }
  // Returns whether there was a message.
  bool receive(const Address& address, std::span<std::byte> bytes, bool wait) {
    std::unique_lock lock(mutex_);
    auto& box = boxes_[address];
    if (wait) arrived_.wait(lock, [&] { return !box.empty(); });
    if (box.empty()) return false;
    check(box.front().size() == bytes.size(), "rank {} expects {} bytes of {}, not {}", address.to,
          bytes.size(), address.from, box.front().size());
    std::copy(box.front().begin(), box.front().end(), bytes.begin());
    box.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<Address, std::deque<std::vector<std::byte>>> boxes_;
};

class ThreadRank final : public Ranks {
 public:
  ThreadRank(Mailboxes& boxes, int index, int count)
      : boxes_(boxes), index_(index), count_(count) {}
  int index() const override { return index_; }
  int count() const override { return count_; }
  Message send(int partner, int tag, std::span<const std::byte> bytes) override {
    ++sent;
    boxes_.send({index_, partner, tag}, bytes);
    return 0;
  }
  Message receive(int partner, int tag, std::span<std::byte> bytes) override {
    expected_.push_back({{partner, index_, tag}, bytes});
    return expected_.size();
  }
  bool done(Message message) override { return message == 0 || receive(message, false); }
  void wait(Message message) override {
    if (message > 0) receive(message, true);
  }
  void all_gather(std::span<std::byte> all) override {
    const size_t size = all.size() / static_cast<size_t>(count_);
    const auto part = [&](int rank) { return all.subspan(size * static_cast<size_t>(rank), size); };
    for (int other = 0; other < count_; ++other)
      if (other != index_) boxes_.send({index_, other, all_ranks}, part(index_));
    for (int other = 0; other < count_; ++other)
      if (other != index_) boxes_.receive({other, index_, all_ranks}, part(other), true);
  }
  void broadcast(std::span<std::byte> bytes) override {
    if (index_ > 0) return void(boxes_.receive({0, index_, all_ranks}, bytes, true));
    for (int other = 1; other < count_; ++other) boxes_.send({0, other, all_ranks}, bytes);
  }
  void abort(int) override { std::terminate(); }

  int sent = 0;  // messages so far

 private:
  static constexpr int all_ranks = -1;  // the tag of messages to all
  struct Expected {
    Mailboxes::Address address;
    std::span<std::byte> bytes;
  };
  bool receive(Message message, bool wait) {
    const auto& [address, bytes] = expected_[message - 1];
    return boxes_.receive(address, bytes, wait);
  }

  Mailboxes& boxes_;
  int index_, count_;
  std::vector<Expected> expected_;  // message number i + 1; 0 has been sent
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
      Ranks::current = count > 1 ? &rank : nullptr;
      try {
        f();
      } catch (...) {
        errors[static_cast<size_t>(index)] = std::current_exception();
      }
      Ranks::current = nullptr;
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace heed::inline HEED_REAL
