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

#include <array>
#include <cstdint>
#include <vector>

#include "core/ranks.h"

namespace heed::inline HEED_REAL {

// The elements [first, last) of an array. Clients do not need it.
struct ElementRange {
  int64_t first = 0, last = 0;
  int64_t size() const { return last - first; }
};

// One exchange of the recursive halving: a rank sends one half of a range to its partner, and adds
// what the partner sends to the other half. Both are exchanged in pieces: those whose elements are
// final are sent while backward computes the others. Only a few pieces are received at once, so
// that they are in the cache when they are added. Clients do not need it.
class HalfExchange {
 public:
  // Of arrays in which this rank keeps the elements `own`, and the partner `other`.
  HalfExchange(Ranks& ranks, int partner, ElementRange own, ElementRange other);

  // Optional, any number of times before finish(): these elements will not change until then.
  // Starts to send the pieces that are complete with them. Marks each element at most once. Does
  // not wait.
  void mark_final(real* array, ElementRange range);
  // Continues the messages that have started. Does not wait.
  void advance(real* array);
  // Exchanges the remaining pieces and waits for the partner. The next call may be for another
  // array.
  void finish(real* array);

 private:
  struct Half {
    ElementRange range;
    std::vector<int64_t> missing = {};  // elements of each piece that are not final
    void reset();
    // Calls ready(piece) for each piece that is final with these elements.
    template <class F>
    void mark_final(ElementRange elements, F ready);
    // The same for all pieces that are not final.
    template <class F>
    void mark_rest_final(F ready);
    ElementRange piece(size_t i) const;
  };
  void send(const real* array, size_t piece);
  // Begins to receive as many final pieces as there are buffers.
  void receive();
  // Adds the oldest of them.
  void add_received(real* array);

  struct Receiving {
    Ranks::Message message = 0;
    std::vector<real> buffer;
  };
  Ranks& ranks_;
  const int partner_;
  Half own_, other_;
  std::vector<Ranks::Message> sent_;
  std::vector<size_t> final_pieces_;  // of own_, in the order of their receiving
  std::array<Receiving, 4> in_;       // final_pieces_[i] is received into in_[i % 4]
  size_t arrived_ = 0;                // of sent_
  size_t begun_ = 0, added_ = 0;      // of final_pieces_
};

// For arrays of one size. Every rank must call the functions that exchange, in the same order.
// Clients do not need it.
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
  // Copies every rank's own() elements `slice` to the array `whole` of rank 0, or back. Other
  // ranks do not read their `whole`.
  void copy(real* slice, real* whole, bool to_whole) const;

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
