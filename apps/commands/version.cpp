// heed --version: the program, the processor and what multiplies its matrices.
#include <fmt/format.h>

#include "apps/commands/commands.h"
#include "apps/support/machine.h"
#include "core/joined.h"
#include "core/kernels/gemm/gemm.h"
#include "core/parallel.h"

namespace heed::commands {

std::string version_text() {
  return fmt::format(
      "heed {}\nprocessor: {}, {} physical cores\nfeatures: {}\nBLAS: {}\nprecisions: {}",
      HEED_VERSION, processor_name(), physical_cores(), joined(processor_features(), " "),
      kernels::blas_backend(), joined(available_precisions()));
}

}  // namespace heed::commands
