// The processes that train one model together, which MPI calls ranks. Each has all weights,
// computes its shards of a batch (apps/training/shards.h) and updates one slice
// (optim/rank_slices.h). Ranks exchange data through this interface; apps/ranks implements it with
// MPI. Programs do so by the functions of apps/support/together.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/check.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL {

// Another rank has ended, is stopped, or cannot be reached. Clients do not need it unless they
// train with several processes.
class LostRank : public Error {
 public:
  using Error::Error;
};

// All ranks must call each function, in the same order, except where a comment says otherwise.
// Throws LostRank. Clients do not need it unless they implement another transport than MPI.
class Ranks {
 public:
  // In bytes. With messages of 1 MiB Open MPI uses a network less well.
  static constexpr size_t largest_message = size_t{1} << 18;

  // Those that this process trains with: null if it is the only one. Each thread has its own, so
  // that threads of a test can be ranks.
  static inline constinit thread_local Ranks* current = nullptr;

  virtual ~Ranks() = default;
  // Any rank may call these four.
  virtual int index() const = 0;  // of this process, in [0, count())
  virtual int count() const = 0;  // a power of two
  // Returns how many ranks before this one have not fallen silent: see set_timeout().
  virtual int earlier_ranks() const { return index(); }
  // Sets after how many seconds a function that waits throws LostRank if another rank gives no sign
  // of life; 0: never. Ranks give signs of life whatever they do, such as an evaluation that takes
  // hours. Only one that is stopped (SIGSTOP), or whose machine cannot be reached, gives none.
  // Ranks that are threads of one process give none and need none.
  virtual void set_timeout(int64_t /*seconds*/) {}

  // A message that has started: its number.
  using Message = size_t;
  // Starts to send bytes. Only the two ranks call this function and receive(). The bytes must stay
  // valid and unchanged until the message has arrived. A message makes progress only while its rank
  // is in a function of this class.
  virtual Message send(int partner, int tag, std::span<const std::byte> bytes) = 0;
  // Starts to receive the bytes that the partner sends with the same tag.
  virtual Message receive(int partner, int tag, std::span<std::byte> bytes) = 0;
  // Returns whether the message has arrived, without waiting. If it has, it must not be used again.
  virtual bool done(Message message) = 0;
  // Waits until the message has arrived. After that, it must not be used.
  virtual void wait(Message message) = 0;
  // Sends `to` to a partner, whose own `to` is written to `from`, and waits for both.
  void exchange(int partner, std::span<const std::byte> to, std::span<std::byte> from);
  // `all` has a part of each rank, of equal sizes, in their order. Fills in those of other ranks.
  virtual void all_gather(std::span<std::byte> all) = 0;
  // Overwrites `bytes` with those of rank 0.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
  // Ends all ranks with this exit code. Any rank may call it.
  virtual void abort(int code) = 0;
};

// Returns the index of this process, 0 if it is the only one.
inline int rank() { return Ranks::current ? Ranks::current->index() : 0; }
// Returns the number of processes (Ranks::current), 1 without others.
inline int rank_count() { return Ranks::current ? Ranks::current->count() : 1; }

// The bytes of `count` values.
template <class T>
std::span<const std::byte> bytes_of(const T* first, int64_t count) {
  return std::as_bytes(std::span(first, static_cast<size_t>(count)));
}

// The same for values to overwrite.
template <class T>
std::span<std::byte> writable_bytes_of(T* first, int64_t count) {
  return std::as_writable_bytes(std::span(first, static_cast<size_t>(count)));
}

}  // namespace heed::inline HEED_REAL
