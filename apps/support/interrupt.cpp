#include "apps/support/interrupt.h"

#include <atomic>
#include <signal.h>

namespace heed {
namespace {

std::atomic<int> caught = 0;  // read by the threads of a step
static_assert(std::atomic<int>::is_always_lock_free);
constexpr int signals[] = {SIGINT, SIGTERM, SIGUSR1, SIGHUP};

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  caught = 0;
  struct sigaction action {};
  action.sa_handler = [](int signal) { caught = signal; };
  for (const int signal : signals) {
    // A terminal that closes sends SIGHUP more than once.
    action.sa_flags = static_cast<int>(signal == SIGHUP ? SA_RESTART : SA_RESETHAND | SA_RESTART);
    if (signal != SIGHUP || !is_ignored(signal)) ::sigaction(signal, &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (const int signal : signals)
    if (!is_ignored(signal))
      ::signal(signal, signal == SIGHUP && caught == SIGHUP ? SIG_IGN : SIG_DFL);
}

bool interrupted() { return caught != 0; }
bool terminated() { return caught == SIGTERM; }

}  // namespace heed
