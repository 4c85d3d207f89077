#include <algorithm>

#include "core/parallel_for.h"
#include "nn/positional.h"

namespace heed::inline HEED_REAL {

// φ(t) = t in every column, a counterexample: φ(s)·φ(t) = s · t grows with the positions and does
// not depend on their distance, and a late token is dominated by its position.
const PositionalRule positional_encodings::integer = {
    .name = "integer", .table = [](int64_t length, int64_t dim, const PositionalOptions&) {
      Tensor table = Tensor::empty({length, dim});
      real* to = table.mutable_data();
      parallel_for(length, chunk_rows(dim), [=](int64_t first, int64_t last) {
        for (int64_t t = first; t < last; ++t) std::fill_n(to + t * dim, dim, static_cast<real>(t));
      });
      return table;
    }};

}  // namespace heed::inline HEED_REAL
