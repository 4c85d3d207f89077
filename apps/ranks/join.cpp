#include "apps/ranks/join.h"

#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

#include "apps/support/files.h"
#include "apps/support/interrupt.h"
#include "apps/support/log.h"
#include "apps/support/machine.h"
#include "apps/support/terminal.h"
#include "core/check.h"
#include "core/threads.h"

namespace heed {
namespace {

// What an mpirun tells the processes that it starts.
struct Implementation {
  const char* name;
  const char *index, *count, *local_count;  // variables: of this process, of all, of this machine
  const char* package;                      // in Debian
};
constexpr Implementation implementations[] = {
    {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
     "libopenmpi-dev"},
    {"mpich", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "libmpich-dev"}};

int number_in(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

// Lets the ranks before this one, which have the same error, print it first: mpirun then ends the
// others.
void let_earlier_ranks_report(int count) {
  using namespace std::chrono_literals;
  if (count > 0) std::this_thread::sleep_for(1s + count * 50ms);
}

#ifdef HEED_STATIC

// dlopen() needs the C library that the program was linked with.
Ranks* open(const Implementation& mpi) {
  let_earlier_ranks_report(number_in(mpi.index, 0));
  throw InputError(
      fmt::format("mpirun started {} processes, but this program is linked statically, without "
                  "MPI: build heed from its sources",
                  number_in(mpi.count, 1)));
}

#else

Ranks* open(const Implementation& mpi) {
  const int count = number_in(mpi.count, 1);
  const std::string library =
      in_folder(folder_of(program_path()), fmt::format("heed-{}.so", mpi.name));
  // MPI looks its own components up among the global symbols.
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!handle) let_earlier_ranks_report(number_in(mpi.index, 0));
  check_input(handle,
              "mpirun started {} processes, but this program has no MPI ({}): start it as mpirun "
              "-n {} ./heed, which builds it, or install {} and build the target heed_{}",
              count, ::dlerror(), count, mpi.package, mpi.name);
  return reinterpret_cast<OpenRanks*>(::dlsym(handle, open_ranks_name))(terminated);
}

#endif

}  // namespace

std::unique_ptr<Ranks> join_ranks() {
  for (const Implementation& mpi : implementations) {
    if (number_in(mpi.count, 1) <= 1) continue;
    std::unique_ptr<Ranks> ranks(open(mpi));
    share_cores(number_in(mpi.local_count, 1));
    hide_terminals();
    ::unsetenv(mpi.count);  // a process that this one starts is no rank
    if (ranks->index() > 0) {
      logging::show_only_errors();
      const Descriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
      ::dup2(nowhere, STDOUT_FILENO);
    }
    return ranks;
  }
  return nullptr;
}

void abort_ranks(Ranks& ranks, int code, const std::string& error) {
  const int index = ranks.index();
  let_earlier_ranks_report(ranks.earlier_ranks());
  logging::hide_progress();
  if (index > 0)
    logging::error("process {} of {}: {}", index, ranks.count(), error);
  else
    logging::error("{}", error);
  // MPICH's mpirun drops what it has not passed on when it is told to end all.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ranks.abort(code);
  std::_Exit(code);
}

}  // namespace heed
