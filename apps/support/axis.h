// The rules of axes and lines in still drawings: lab/page/scale.js in C++. Both are held equal by
// tests/fixtures/axis.json.
#pragma once

#include <cstddef>
#include <vector>

namespace heed {

// Returns whether values are read on a logarithmic axis: positive ones that span more than a factor
// of 30.
bool wants_log(double lowest, double highest);

// Returns three to `most` + 1 rounded values between the ends of an axis: 1, 2 or 5 times a power
// of ten.
std::vector<double> ticks_of(bool log, double lowest, double highest, int most = 5);

// Returns the indices of at most `most` ≥ 4 values: the ends, and the least and the largest of each
// part in between, so that no peak gets lost.
std::vector<size_t> thinned(const std::vector<double>& values, size_t most);

}  // namespace heed
