// The result of the exercise paired-interval.
#pragma once

namespace heed::course {

struct RatioInterval {
  double ratio, low, high;
};

}  // namespace heed::course
