// Uses heed as a client does: all headers at once, beside a header of the client's own with the
// same name.
#include <heed/heed.h>
#include <heed/run.h>

#include "core/shape.h"

int library_example_1();  // programs of docs/library.md, with main() renamed
int library_example_2();

int main() {
  heed::ModelOptions options{.dim = 4};
  options.heads = 2;
  options.feed_forward = corners_of_a_square * 4;
  const heed::Encoder encoder(options, 1);
  const heed::Tensor x = heed::Tensor::zeros({1, 3, 4});
  const heed::Tensor y = encoder(x, heed::SequenceContext{.mask = {.causal = true}});
  if (y.shape() != x.shape()) return 1;
  // Designated initialisers of some members do not warn.
  const heed::AttentionOptions attention{.dropout = 0.1};
  const heed::DataOptions data{.digits = 3};
  const heed::NamedParameter parameter{.name = "x"};
  const heed::GenerateOptions generate{.count = 2};
  if (attention.keys != 0 || !data.path.empty() || parameter.tensor || generate.length != 0)
    return 2;

  const int failed = library_example_1() + library_example_2();
  fmt::print("{}\n{}\n", heed::Tensor::full({2}, 1), heed::Ids::from({2}, {1, 2}));
  return failed;
}
