// The memory that the machine and its control groups have left, as files like those of Linux say,
// and memory from the system.
#include "core/system_memory.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

#include "temporary_folder.h"

namespace heed::inline HEED_REAL {
namespace {

// A folder with files like those of /proc and /sys, until the end of the block.
struct Machine : TemporaryFolder {
  double available() const { return available_memory(path); }
};

TEST_CASE("system memory: what is available is the minimum of the machine and its control groups") {
  CHECK(available_memory() > 1 << 20);
  const Machine machine;
  CHECK(std::isinf(machine.available()));
  machine.write("proc/meminfo", "MemTotal:       24684000 kB\nMemAvailable:   1000 kB\n");
  CHECK(machine.available() == 1'024'000);
  machine.write("proc/self/cgroup", "4:memory:/jobs/one\n1:cpu:/\n0::/user/shell\nnonsense\n");
  CHECK(machine.available() == 1'024'000);
  machine.write("sys/fs/cgroup/user/shell/memory.max", "max\n");
  machine.write("sys/fs/cgroup/user/shell/memory.current", "5000000\n");
  machine.write("sys/fs/cgroup/user/memory.max", "900000\n");
  CHECK(machine.available() == 900'000);
  // In a container, its own group is /.
  machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "800000\n");
  CHECK(machine.available() == 800'000);
  machine.write("sys/fs/cgroup/memory/jobs/one/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(machine.available() == 800'000);
}

TEST_CASE("system memory: a control group has left what its processes do not use") {
  const Machine machine;
  const std::string two = "sys/fs/cgroup/jobs/", one = "sys/fs/cgroup/memory/jobs/";
  machine.write("proc/meminfo", "MemAvailable: 1000000 kB\n");
  machine.write("proc/self/cgroup", "0::/jobs/mine\n");
  machine.write(two + "memory.max", "900000\n");
  machine.write(two + "memory.current", "300000\n");
  CHECK(machine.available() == 600'000);
  // Cached files make room when memory is needed.
  machine.write(two + "memory.stat", "anon 100000\nfile 200000\ninactive_file 150000\n");
  CHECK(machine.available() == 750'000);
  // The group inside has a lower limit, but more left.
  machine.write(two + "mine/memory.max", "800000\n");
  machine.write(two + "mine/memory.current", "1000\n");
  CHECK(machine.available() == 750'000);
  machine.write(two + "memory.current", "2000000\n");
  CHECK(machine.available() == 0);

  machine.write("proc/self/cgroup", "7:memory:/jobs\n");
  machine.write(one + "memory.limit_in_bytes", "900000\n");
  machine.write(one + "memory.usage_in_bytes", "500000\n");
  machine.write(one + "memory.stat", "inactive_file 7\ntotal_inactive_file 100000\n");
  CHECK(machine.available() == 500'000);
  machine.write(one + "memory.usage_in_bytes", "50000\n");  // read a moment after memory.stat
  CHECK(machine.available() == 900'000);
}

TEST_CASE("system memory: the peak of this process is not below what it holds") {
  const double now = resident_memory();
  CHECK(now > 1 << 20);
  CHECK(peak_resident_memory() >= now);
}

TEST_CASE("system memory: a block that is returned leaves its neighbours as they are") {
  constexpr size_t bytes = 1'500'000;  // no whole number of pages
  for (const Pages pages : {Pages::small, Pages::huge}) {
    std::vector<char*> blocks;
    for (int i = 0; i < 200; ++i) {  // more than a region of huge pages holds
      blocks.push_back(static_cast<char*>(map_memory(bytes, pages)));
      REQUIRE(blocks.back());
      CHECK(std::all_of(blocks.back(), blocks.back() + bytes, [](char c) { return c == 0; }));
      std::memset(blocks.back(), i, bytes);
    }
    for (size_t i = 0; i < blocks.size(); i += 2) unmap_memory(blocks[i], bytes);
    for (size_t i = 1; i < blocks.size(); i += 2) {
      const auto written = static_cast<char>(i);
      CHECK(std::all_of(blocks[i], blocks[i] + bytes, [&](char c) { return c == written; }));
      unmap_memory(blocks[i], bytes);
    }
  }
}

TEST_CASE("system memory: a large block takes no more addresses than it has bytes") {
  const auto mapped = [] {  // takes no memory itself
    char text[100] = {};
    const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    (void)!::read(file, text, sizeof text - 1);
    ::close(file);
    return std::strtoull(text, nullptr, 10) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  };
  constexpr size_t bytes = size_t{201} << 20;
  const size_t before = mapped();
  if (before == 0) return;       // not on Linux
  for (int i = 0; i < 3; ++i) {  // one of them may begin at a boundary of huge pages by chance
    void* const block = map_memory(bytes, Pages::huge);
    REQUIRE(block);
    CHECK(mapped() == before + bytes);
    unmap_memory(block, bytes);
    CHECK(mapped() == before);
  }
}

}  // namespace
}  // namespace heed::inline HEED_REAL
