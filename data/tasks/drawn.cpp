#include "data/tasks/drawn.h"

#include "core/check.h"

namespace heed {

DrawnTask make_drawn_task(const DataOptions& options, Lengths lengths) {
  switch (options.kind) {
    case DataKind::shapes:
      return shapes_task(options);
    case DataKind::video:
      return video_task(options);
    case DataKind::graph:
      return graph_task(options, lengths);
    case DataKind::streams:
      return streams_task(options, lengths);
    case DataKind::set:
      return set_task(options, lengths);
    case DataKind::subject:
      return subject_task(options, lengths);
    case DataKind::recall:
      return recall_task(options, lengths);
    default:
      throw_error("tasks: this kind of data is not drawn", {});
  }
}

std::vector<std::string> numbered(const char* prefix, int64_t count) {
  std::vector<std::string> names = numbers(count);
  for (std::string& name : names) name.insert(0, prefix);
  return names;
}

}  // namespace heed
