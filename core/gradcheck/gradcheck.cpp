#include "core/gradcheck/gradcheck.h"

#include "core/gradcheck/op_check.h"

namespace heed::inline HEED_REAL {

void gradcheck(const std::function<Tensor(Tensors x)>& function, const std::vector<Tensor>& inputs,
               const GradcheckOptions& options) {
  check(!inputs.empty(), "gradcheck: there is no input");
  testing::OpRow row;
  row.name = "gradcheck";
  row.op = function;
  for (const Tensor& x : inputs) {
    row.inputs.push_back(x.shape());
    row.values.emplace_back(x.values().begin(), x.values().end());
  }
  {
    ScopeGuard here;
    here->gradients = false;
    row.result = function(inputs).shape();
  }
  const auto failures = check_row(
      row, {.seed = options.seed, .eps = options.eps, .gradient_tolerance = options.tolerance});
  if (!failures.failures.empty()) throw Error(failures.failures.front().text);
}

}  // namespace heed::inline HEED_REAL
