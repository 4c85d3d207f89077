// Looks up row ids[n] of a table. Its gradient adds to those rows only.
#include "core/autograd.h"
#include "core/kernels/kernels.h"
#include "core/standard_ops.h"

namespace heed::inline HEED_REAL {

static void check_ids(const Ids& ids, int64_t rows) {
  if (scope().shapes_only) return;
  for (int64_t n = 0; n < ids.size(); ++n)
    check(ids[n] >= 0 && ids[n] < rows, "embedding: id {} at position {} of {} is not in [0, {})",
          ids[n], n, ids.shape(), rows);
}

// y[…, :] = weight[ids[…], :]
Tensor embedding(const Tensor& weight, const Ids& ids) {
  check(weight.rank() == 2, "embedding: the weight must be (vocab, D), has {}", weight.shape());
  const int64_t rows = weight.dim(0), width = weight.dim(1), count = ids.size();
  check_ids(ids, rows);
  Tensor y = Tensor::empty(ids.shape().inserted(ids.shape().rank(), width));
  kernels::gather_rows(count, width, ids.data(), weight.data(), {y.mutable_data(), false});
  report(Work::moved, 2 * y.size());  // reads only those rows of the weight
  return record("embedding", y, {weight}, [rows, width, ids = Unchanged(ids)](Backward& g) {
    report(Work::moved, 2 * g.size());
    // dweight[ids[n], :] += dy[n, :]
    kernels::scatter_rows(ids->size(), width, ids->data(), g.dy(), rows, g.into(0));
  });
}

}  // namespace heed::inline HEED_REAL
