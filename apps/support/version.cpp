#include "apps/support/version.h"

#include <fmt/format.h>

#include "apps/support/machine.h"
#include "core/joined.h"
#include "core/kernels/gemm/view.h"
#include "core/processors.h"

namespace heed {

const char* const program_version = HEED_VERSION;
const char* const program_compiler = HEED_COMPILER;
const char* const program_flags = HEED_FLAGS;

// Not as fine as -march, which changes no other bit.
#ifdef __AVX512F__
const char* const program_kernels = "x86-64-v4";
#elif defined(__FMA__)
const char* const program_kernels = "x86-64-v3";
#elif defined(__AVX__)
const char* const program_kernels = "AVX";
#else
const char* const program_kernels = HEED_OLDEST_KERNELS;
#endif

static constinit const char* commit_of_program = "";

const char* program_commit() { return commit_of_program; }

bool set_program_commit(const char* commit) {
  commit_of_program = commit;
  return true;
}

std::string version_text() {
  return fmt::format(
      "heed {}{}{}\nbuild: {}, {}\nkernels: {}\nprocessor: {}, {} physical cores\nfeatures: "
      "{}\nBLAS: "
      "{}\nprecisions: {}",
      program_version, *program_commit() ? ", commit " : "", program_commit(), program_compiler,
      program_flags, program_kernels, processor_name(), physical_cores(),
      joined(processor_features(), " "), kernels::blas_backend(), joined(available_precisions()));
}

}  // namespace heed
