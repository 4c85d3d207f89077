#include "nn/sequence_context.h"

#include "core/check.h"
#include "core/scope.h"

namespace heed::inline HEED_REAL {

void Edges::check_fits(const char* operation, int64_t batch, int64_t time) const {
  const int64_t positions = batch * time, count = sender.size();
  check(sender.shape() == Shape{count} && receiver.shape() == Shape{count},
        "{}: senders {} and receivers {} must be vectors of one length", operation, sender.shape(),
        receiver.shape());
  for (int64_t e = 0; e < count && !scope().shapes_only; ++e) {
    const int64_t from = sender[e], to = receiver[e];
    check(from >= 0 && from < positions && to >= 0 && to < positions && from / time == to / time,
          "{}: edge {} joins positions {} and {}, which must lie in one of {} examples of {} "
          "positions",
          operation, e, from, to, batch, time);
  }
}

}  // namespace heed::inline HEED_REAL
