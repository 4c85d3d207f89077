// Shares the update of an arena among ranks (core/ranks.h): each rank sums the gradients of one
// slice and updates it.
//
//   rank                 0     1     2     3
//   gradients           aaaa  bbbb  cccc  dddd     each of its own shards
//   recursive halving   aa__  __aa  cc__  __cc     with rank ^ 1: sends one half of the array, adds
//                     + bb__  __bb  dd__  __dd     what it receives to the other
//                       a___  __a_  _a__  ___a     with rank ^ 2: the same with quarters
//                     + c___  __c_  _c__  ___c     (a = a + b, c = c + d)
//   update              w___  __w_  _w__  ___w
//   recursive doubling  wwww  wwww  wwww  wwww     with rank ^ 2, then with rank ^ 1
//
// In each direction a rank sends (R - 1) / R of the array in log2 R messages (Thakur, Rabenseifner
// & Gropp 2005, "Optimization of Collective Communication Operations in MPICH", section 4.4). The
// additions are those of the tree in apps/training/shards.h, neighbours first, whatever R is.
#pragma once

#include <cstdint>
#include <vector>

#include "optim/half_exchange.h"

namespace heed::inline HEED_REAL {

// For arrays of one size. Every rank must call the functions that exchange, in the same order.
class RankSlices {
 public:
  RankSlices() = default;
  // Slices arrays of `size` elements at multiples of `grain`, among Ranks::current, who must
  // outlive this. Where there are fewer grains than ranks, some have an empty slice.
  RankSlices(int64_t size, int64_t grain);

  // The slice of this rank: the whole array, if there is only one.
  ElementRange own() const { return kept_.back(); }

  // Replaces own() by its sum over the arrays of all ranks. The other elements become undefined.
  void sum(real* array);
  // Optional, before sum(), with several ranks: see HalfExchange.
  void mark_final(real* array, ElementRange range);
  void advance(real* array);
  // Fills in the slices of other ranks.
  void gather(real* array) const;
  // The same for an array of one number for each grain.
  void gather_by_grain(double* array) const;
  // Copies every rank's own() elements `slice` to the array `whole` of rank 0, and back. Other
  // ranks do not read their `whole`.
  void collect(const real* slice, real* whole) const;
  void distribute(const real* whole, real* slice) const;

 private:
  // What a rank keeps after each exchange of the halving, from the whole array to its slice.
  std::vector<ElementRange> halving(int rank) const;
  // What the partner of an exchange keeps.
  ElementRange other_half(size_t level) const;
  template <class T>
  void gather_each(T* array, int64_t elements) const;

  Ranks* ranks_ = nullptr;
  int rank_ = 0, count_ = 1;
  int64_t size_ = 0, grain_ = 1;
  std::vector<ElementRange> kept_ = {{}};
  std::vector<HalfExchange> halves_;  // an exchange for each element of kept_ after the first
};

}  // namespace heed::inline HEED_REAL
