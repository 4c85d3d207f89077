// apps/support/interrupt.h: signals while a process trains.
#include "apps/support/interrupt.h"

#include <doctest/doctest.h>

#include <optional>
#include <signal.h>

using namespace heed;

static int handled = 0;  // signals that the process has handled itself

TEST_CASE("interrupt: several guards at a time, in a process that handles the signal itself") {
  handled = 0;
  ::signal(SIGUSR1, [](int) { ++handled; });
  std::optional<InterruptGuard> first(std::in_place);
  CHECK_FALSE(interrupted());
  ::raise(SIGUSR1);
  CHECK(interrupted());
  {
    const InterruptGuard second;
    CHECK(interrupted());
    ::raise(SIGUSR1);  // does not end the process
  }
  ::raise(SIGUSR1);
  CHECK(handled == 0);
  first.reset();
  ::raise(SIGUSR1);
  CHECK(handled == 1);
  const InterruptGuard next;
  CHECK_FALSE(interrupted());
  CHECK_FALSE(terminated());
  ::raise(SIGTERM);
  CHECK(terminated());
}
