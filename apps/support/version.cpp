#include "apps/support/version.h"

#include <fmt/format.h>

#include "apps/support/machine.h"
#include "core/joined.h"
#include "core/kernels/gemm/gemm.h"
#include "core/parallel.h"

namespace heed {

const char* const program_version = HEED_VERSION;

std::string version_text() {
  return fmt::format(
      "heed {}\nprocessor: {}, {} physical cores\nfeatures: {}\nBLAS: {}\nprecisions: {}",
      program_version, processor_name(), physical_cores(), joined(processor_features(), " "),
      kernels::blas_backend(), joined(available_precisions()));
}

}  // namespace heed
