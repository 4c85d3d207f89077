#include "data/tasks/task.h"

#include "core/check.h"
#include "data/framing.h"

namespace heed {

// Their tasks are in the files of their names.
const DataKind data_kinds::reverse = number_kind<reverse_task>("reverse");
const DataKind data_kinds::sort = number_kind<sort_task>("sort");

std::shared_ptr<const TextCodec> task_codec(Level level, std::vector<std::string> tokens,
                                            ModelKind framing, bool one_length) {
  return std::make_shared<TextCodec>(
      level, task_vocabulary(std::move(tokens), framing, one_length).tokens());
}

void check_shortest(const DataOptions& options, int64_t least, const char* reason) {
  check_input(options.lengths[0] >= least, "`lengths` must start at {} or more, not {}: {}", least,
              options.lengths[0], reason);
}

}  // namespace heed
