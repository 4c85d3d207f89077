#include "apps/support/machine.h"

#include <doctest/doctest.h>

#include <cmath>

#include "temporary.h"

using namespace heed;

TEST_CASE("machine: available memory is the minimum of the system and its control groups") {
  CHECK(available_memory() > 1 << 20);
  const TemporaryFolder root;
  const auto write = [&](const std::string& path, const std::string& text) {
    make_folders(folder_of(root / path));
    write_file(root / path, text);
  };
  CHECK(std::isinf(available_memory(root.path)));
  write("proc/meminfo", "MemTotal:       24684000 kB\nMemAvailable:   1000 kB\n");
  CHECK(available_memory(root.path) == 1'024'000);
  write("proc/self/cgroup", "4:memory:/jobs/one\n1:cpu:/\n0::/user/shell\nnonsense\n");
  CHECK(available_memory(root.path) == 1'024'000);
  write("sys/fs/cgroup/user/shell/memory.max", "max\n");
  write("sys/fs/cgroup/user/memory.max", "900000\n");
  CHECK(available_memory(root.path) == 900'000);
  // In a container, its own group is /.
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "800000\n");
  CHECK(available_memory(root.path) == 800'000);
  write("sys/fs/cgroup/memory/jobs/one/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(available_memory(root.path) == 800'000);
}
