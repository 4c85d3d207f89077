// The ranks of MPI: a library that the program loads (apps/ranks/join.h), compiled for each
// implementation.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>
#include <vector>
#define OMPI_SKIP_MPICXX  // the bindings for C++, which need a library of their own
#define MPICH_SKIP_MPICXX
#include <mpi.h>
#include <sched.h>

#include "apps/ranks/join.h"

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;

// Each rank sends a sign of life to every other one so often.
constexpr std::chrono::milliseconds between_signs(500);

void check_mpi(int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw LostRank("the other processes cannot be reached: " +
                 std::string(text, static_cast<size_t>(length)));
}

class MpiRanks final : public Ranks {
 public:
  explicit MpiRanks(bool (*ended)()) : ended_(ended) {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &index_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    MPI_Comm_dup(MPI_COMM_WORLD, &signs_);
    silence_.resize(static_cast<size_t>(count_));
    sent_signs_.resize(static_cast<size_t>(count_), MPI_REQUEST_NULL);
    set_timeout(600);
    if (provided >= MPI_THREAD_SERIALIZED) start_signs();
  }
  ~MpiRanks() override {
    {
      const std::lock_guard lock(ending_);
      ends_ = true;
    }
    end_.notify_one();
    if (between_calls_.joinable()) between_calls_.join();
    end_signs();
    MPI_Finalize();
  }

  int index() const override { return index_; }
  int count() const override { return count_; }

  int earlier_ranks() const override {
    const std::lock_guard lock(mpi_);
    return static_cast<int>(std::count_if(silence_.begin(), silence_.begin() + index_,
                                          [this](int64_t ticks) { return !is_lost(ticks); }));
  }

  void set_timeout(int64_t seconds) override {
    const std::lock_guard lock(mpi_);
    timeout_ = seconds;
  }

  Message send(int partner, int tag, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(mpi_);
    const Message message = unused();
    check_mpi(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, partner, tag,
                        MPI_COMM_WORLD, &messages_[message]));
    return message;
  }

  Message receive(int partner, int tag, std::span<std::byte> bytes) override {
    const std::lock_guard lock(mpi_);
    const Message message = unused();
    check_mpi(MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, partner, tag,
                        MPI_COMM_WORLD, &messages_[message]));
    return message;
  }

  bool done(Message message) override {
    const std::lock_guard lock(mpi_);
    return test(messages_[message]);
  }
  void wait(Message message) override {
    const std::lock_guard lock(mpi_);
    await(messages_[message]);
  }

  void all_gather(std::span<std::byte> all) override {
    const std::lock_guard lock(mpi_);
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, all.data(),
                             static_cast<int>(all.size() / static_cast<size_t>(count_)), MPI_BYTE,
                             MPI_COMM_WORLD, &request));
    await(request);
  }

  void broadcast(std::span<std::byte> bytes) override {
    const std::lock_guard lock(mpi_);
    for (size_t sent = 0; sent < bytes.size(); sent += largest_message) {
      MPI_Request request = MPI_REQUEST_NULL;
      check_mpi(MPI_Ibcast(bytes.data() + sent,
                           static_cast<int>(std::min(bytes.size() - sent, largest_message)),
                           MPI_BYTE, 0, MPI_COMM_WORLD, &request));
      await(request);
    }
  }

  void abort(int code) override {
    const std::lock_guard lock(mpi_);
    MPI_Abort(MPI_COMM_WORLD, code);
  }

 private:
  // The index of a free element of messages_. MPI frees it when the message has arrived.
  Message unused() {
    const auto free = std::find(messages_.begin(), messages_.end(), MPI_REQUEST_NULL);
    const auto message = static_cast<Message>(free - messages_.begin());
    if (free == messages_.end()) messages_.push_back(MPI_REQUEST_NULL);
    return message;
  }

  static bool test(MPI_Request& request) {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    return done != 0;
  }

  // Leaves the processor to others meanwhile: there may be more ranks than cores. Open MPI's mpirun
  // tells all ranks to end where one has died, and kills them a second later: before that, one can
  // still say what happened.
  void await(MPI_Request& request) {
    [[maybe_unused]] const Clock::time_point start = Clock::now();
    while (!test(request)) {
      sched_yield();
      if (Clock::now() - last_signs_ >= between_signs) {
        exchange_signs();
        check_silence();
      }
#ifdef OPEN_MPI
      if (ended_() && Clock::now() - start > std::chrono::milliseconds(500))
        throw LostRank("another process has ended");
#endif
    }
  }

  // A function that waits exchanges signs of life itself. This thread does so while the rank is in
  // no function of this class, however long it computes or writes a file. SIGSTOP stops it, too.
  void start_signs() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the other threads
    between_calls_ = std::thread([this] {
      std::unique_lock ending(ending_);
      while (!end_.wait_for(ending, between_signs / 4, [this] { return ends_; })) {
        const std::unique_lock lock(mpi_, std::try_to_lock);
        if (lock && Clock::now() - last_signs_ >= between_signs) exchange_signs();
      }
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  // Silence is counted in calls of this function and not in seconds, so that a rank that was itself
  // stopped for an hour does not take all others for lost.
  void exchange_signs() {
    last_signs_ = Clock::now();
    for (int other = 0; other < count_; ++other) {
      if (other == index_) continue;
      ++silence_[static_cast<size_t>(other)];
      MPI_Request& sign = sent_signs_[static_cast<size_t>(other)];
      int arrived = 1;
      if (sign != MPI_REQUEST_NULL) MPI_Test(&sign, &arrived, MPI_STATUS_IGNORE);
      if (arrived) MPI_Isend(&sign_, 1, MPI_BYTE, other, 0, signs_, &sign);
    }
    receive_signs();
  }

  void receive_signs() {
    int is_there = 0;
    MPI_Status status;
    while (MPI_Iprobe(MPI_ANY_SOURCE, 0, signs_, &is_there, &status) == MPI_SUCCESS && is_there) {
      char sign = 0;
      MPI_Recv(&sign, 1, MPI_BYTE, status.MPI_SOURCE, 0, signs_, MPI_STATUS_IGNORE);
      silence_[static_cast<size_t>(status.MPI_SOURCE)] = 0;
      ended_ranks_ += sign == last_sign_;
    }
  }

  // Takes every sign that was sent to this rank: MPI warns of messages that nobody has received, on
  // the standard output.
  void end_signs() {
    for (int other = 0; other < count_; ++other)
      if (other != index_)
        MPI_Isend(&last_sign_, 1, MPI_BYTE, other, 0, signs_, &messages_[unused()]);
    for (receive_signs(); ended_ranks_ < count_ - 1; receive_signs()) sched_yield();
    for (std::vector<MPI_Request>* sent : {&sent_signs_, &messages_})
      MPI_Waitall(static_cast<int>(sent->size()), sent->data(), MPI_STATUSES_IGNORE);
  }

  // One sign more than fits into the time, because ranks send and count at different moments.
  bool is_lost(int64_t silence) const {
    return timeout_ > 0 && (silence - 1) * between_signs >= std::chrono::seconds(timeout_);
  }

  void check_silence() const {
    const auto lost = std::find_if(silence_.begin(), silence_.end(),
                                   [this](int64_t ticks) { return is_lost(ticks); });
    if (lost == silence_.end()) return;
    throw LostRank(fmt::format(
        "process {} of {} gave no sign of life for {} s: it is stopped, or its machine cannot be "
        "reached (train.rank_timeout)",
        lost - silence_.begin(), count_, timeout_));
  }

  [[maybe_unused]] bool (*const ended_)();
  int index_ = 0, count_ = 1;

  // Of the thread that is in MPI. A function that waits holds it until it returns.
  mutable std::mutex mpi_;
  std::vector<MPI_Request> messages_;

  MPI_Comm signs_ = MPI_COMM_NULL;
  const char sign_ = 0, last_sign_ = 1;
  int ended_ranks_ = 0;                  // those whose last sign has come
  std::vector<MPI_Request> sent_signs_;  // the last to each rank
  std::vector<int64_t> silence_;         // of each rank: calls of exchange_signs() since its sign
  int64_t timeout_ = 0;                  // in seconds
  Clock::time_point last_signs_ = Clock::now();

  std::mutex ending_;
  std::condition_variable end_;
  bool ends_ = false;
  std::thread between_calls_;
};

}  // namespace
}  // namespace heed

extern "C" heed::Ranks* heed_open_ranks(bool (*ended)()) { return new heed::MpiRanks(ended); }
