// The ranks of MPI: a library that the program loads (apps/ranks/join.h), compiled for each
// implementation.
#include <algorithm>
#include <chrono>
#include <vector>
#define OMPI_SKIP_MPICXX  // the bindings for C++, which need a library of their own
#define MPICH_SKIP_MPICXX
#include <mpi.h>
#include <sched.h>

#include "apps/ranks/join.h"

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;

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
    int provided = 0;  // only the thread that starts the steps communicates
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &index_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
  }
  ~MpiRanks() override { MPI_Finalize(); }

  int index() const override { return index_; }
  int count() const override { return count_; }

  Message send(int partner, int tag, std::span<const std::byte> bytes) override {
    const Message message = unused();
    check_mpi(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, partner, tag,
                        MPI_COMM_WORLD, &messages_[message]));
    return message;
  }

  Message receive(int partner, int tag, std::span<std::byte> bytes) override {
    const Message message = unused();
    check_mpi(MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, partner, tag,
                        MPI_COMM_WORLD, &messages_[message]));
    return message;
  }

  bool done(Message message) override { return test(messages_[message]); }
  void wait(Message message) override { await(messages_[message]); }

  void all_gather(std::span<std::byte> all) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_BYTE, all.data(),
                             static_cast<int>(all.size() / static_cast<size_t>(count_)), MPI_BYTE,
                             MPI_COMM_WORLD, &request));
    await(request);
  }

  void broadcast(std::span<std::byte> bytes) override {
    for (size_t sent = 0; sent < bytes.size(); sent += largest_message) {
      MPI_Request request = MPI_REQUEST_NULL;
      check_mpi(MPI_Ibcast(bytes.data() + sent,
                           static_cast<int>(std::min(bytes.size() - sent, largest_message)),
                           MPI_BYTE, 0, MPI_COMM_WORLD, &request));
      await(request);
    }
  }

  void abort(int code) override { MPI_Abort(MPI_COMM_WORLD, code); }

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
  void await(MPI_Request& request) const {
    [[maybe_unused]] const Clock::time_point start = Clock::now();
    while (!test(request)) {
      sched_yield();
#ifdef OPEN_MPI
      if (ended_() && Clock::now() - start > std::chrono::milliseconds(500))
        throw LostRank("another process has ended");
#endif
    }
  }

  [[maybe_unused]] bool (*const ended_)();
  int index_ = 0, count_ = 1;
  std::vector<MPI_Request> messages_;
};

}  // namespace
}  // namespace heed

extern "C" heed::Ranks* heed_open_ranks(bool (*ended)()) { return new heed::MpiRanks(ended); }
