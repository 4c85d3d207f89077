// Uses heed as a client does: all headers at once, beside a header of the client's own with the
// same name.
#include <heed/heed.h>

#include "core/shape.h"

int readme_example_1();  // README.md's examples, with main() renamed
int readme_example_2();

int main() {
  heed::BlockOptions options{.dim = 4};
  options.heads = 2;
  options.feed_forward = corners_of_a_square * 4;
  const heed::Encoder encoder(options, 1);
  const heed::Tensor x = heed::Tensor::zeros({1, 3, 4});
  const heed::Tensor y = encoder(x, heed::SequenceContext{.mask = {.causal = true}});
  if (y.shape() != x.shape()) return 1;
  return readme_example_1() + readme_example_2();
}
