#include "course/exercises/tape/tape.h"

#include <vector>

namespace heed::course {

// Returns the derivative of the last number of x with respect to each number of x. The first
// x.size() - tape.size() of them are inputs; step k of the tape computed the next ones, in order.
std::vector<double> gradients(const std::vector<TapeStep>& tape, const std::vector<double>& x) {
  std::vector<double> dx(x.size());
  dx.back() = 1;
  const size_t inputs = x.size() - tape.size();
  for (size_t k = tape.size(); k-- > 0;) {
    const auto& [operation, a, b] = tape[k];
    const double y = x[inputs + k], dy = dx[inputs + k];
    switch (operation) {
      case TapeStep::Operation::add:
        dx[a] += dy;
        dx[b] += dy;
        break;
      case TapeStep::Operation::multiply:
        dx[a] += dy * x[b];
        dx[b] += dy * x[a];
        break;
      case TapeStep::Operation::tanh:
        dx[a] += dy * (1 - y * y);
        break;
    }
  }
  return dx;
}

}  // namespace heed::course
