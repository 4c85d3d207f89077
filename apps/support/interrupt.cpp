#include "apps/support/interrupt.h"

#include <signal.h>

namespace heed {
namespace {

volatile sig_atomic_t caught = 0;
constexpr int signals[] = {SIGINT, SIGTERM};

}  // namespace

InterruptGuard::InterruptGuard() {
  caught = 0;
  struct sigaction action {};
  action.sa_handler = [](int) { caught = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int signal : signals) ::sigaction(signal, &action, nullptr);
}

InterruptGuard::~InterruptGuard() {
  for (const int signal : signals) ::signal(signal, SIG_DFL);
}

bool interrupted() { return caught != 0; }

}  // namespace heed
