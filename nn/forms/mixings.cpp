// Defines nn/forms/mixings.h, and the options of all forms.
#include "nn/forms/mixings.h"

#include "core/fields.h"

namespace heed::inline HEED_REAL {

void MixingOptions::fields(Fields& f) {
  static constexpr Named<Padding> paddings[] = {{"zero", Padding::zero},
                                                {"circular", Padding::circular}};
  static constexpr Named<Aggregate> aggregates[] = {
      {"sum", Aggregate::sum}, {"mean", Aggregate::mean}, {"symmetric", Aggregate::symmetric}};
  const bool convolves = kind == &mixings::convolution, dense = kind == &mixings::dense;
  f.choice(
      "mixing", kind, mixings::all,
      "how positions exchange information; the section attention then applies to attention only: "
      "to a decoder's cross-attention and a pool of learned queries");
  f.integer("induced_queries", induced_queries, {1, 1 << 12},
            "learned queries through which induced attention reads the sequence")
      .when(kind == &mixings::induced_attention);
  f.integer("kernel_size", kernel_size, {1, 1025},
            "positions that a convolution reads, along each axis of a grid")
      .when(convolves);
  f.choice("padding", padding, paddings, "what a convolution reads beyond the ends")
      .when(convolves);
  f.integers("circular_axes", circular_axes, {0, 3},
             "axes of a grid with circular padding, from 0; empty: all; others have zeros")
      .when(convolves && padding == Padding::circular);
  f.flag("scalar_kernel", scalar_kernel,
         "a convolution weights each of these positions by a number, not by a matrix")
      .when(convolves);
  f.integer("length", length, {1, 1 << 16}, "longest sequence of a dense layer over time")
      .when(dense);
  f.flag("full_matrix", full_matrix,
         "one matrix from all positions and features to all: length² · dim² weights; false: a "
         "number for each pair of positions")
      .when(dense);
  f.choice("aggregate", aggregate, aggregates,
           "how a graph convolution combines what a node receives: the sum, the mean, or divided "
           "by the roots of both nodes' numbers of edges")
      .when(kind == &mixings::graph_convolution);
  f.integer("global", global, {0, 1 << 12},
            "width of a vector of the whole graph, which attention along the edges reads and "
            "updates, and the head reads; 0: none")
      .when(kind == &mixings::graph_attention);
  f.flag("feed_forward", feed_forward, "end each layer with a feed-forward network");
  f.flag("residual", residual, "add to x what a sublayer computes; false: a chain of sublayers");
}

void check_mixing_input(const char* form, const char* reason, bool can_be_causal, const Tensor& x,
                        int64_t dim, const KeepMask& mask) {
  check(x.rank() == 3 && x.dim(2) == dim, "{}: x must have shape [B, T, {}], has {}", form, dim,
        x.shape());
  check((can_be_causal || !mask.causal) && mask.window == 0 && !mask.dense,
        "{}: {}; it supports neither {}a window nor a dense mask", form, reason,
        can_be_causal ? "" : "a causal mask nor ");
}

}  // namespace heed::inline HEED_REAL
