#include "apps/support/interrupt.h"

#include <atomic>
#include <iterator>
#include <mutex>
#include <signal.h>

namespace heed {
namespace {

std::atomic<int> caught = 0;  // read by the threads of a step
static_assert(std::atomic<int>::is_always_lock_free);
constexpr int signals[] = {SIGINT, SIGTERM, SIGUSR1, SIGHUP};

std::mutex interrupt_mutex;
int guard_count = 0;
struct sigaction handlers_before[std::size(signals)];

}  // namespace

InterruptGuard::InterruptGuard() {
  const std::lock_guard lock(interrupt_mutex);
  if (guard_count++ > 0) return;
  caught = 0;
  for (size_t i = 0; i < std::size(signals); ++i) {
    const int signal = signals[i];
    ::sigaction(signal, nullptr, &handlers_before[i]);
    const bool is_ignored = handlers_before[i].sa_handler == SIG_IGN;
    struct sigaction action {};
    action.sa_handler = [](int number) { caught = number; };
    action.sa_flags = SA_RESTART;
    // A terminal that closes sends SIGHUP more than once.
    if (signal != SIGHUP && (is_ignored || handlers_before[i].sa_handler == SIG_DFL))
      action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    if (signal != SIGHUP || !is_ignored) ::sigaction(signal, &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  const std::lock_guard lock(interrupt_mutex);
  if (--guard_count > 0) return;
  for (size_t i = 0; i < std::size(signals); ++i)
    if (signals[i] == SIGHUP && caught == SIGHUP)
      ::signal(SIGHUP, SIG_IGN);
    else
      ::sigaction(signals[i], &handlers_before[i], nullptr);
}

bool interrupted() { return caught != 0; }
bool terminated() { return caught == SIGTERM; }

}  // namespace heed
