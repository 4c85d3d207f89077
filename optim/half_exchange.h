// One exchange of the recursive halving (optim/rank_slices.h): a rank sends one half of a range to
// its partner, and adds what the partner sends to the other half. Both are exchanged in pieces:
// those whose elements are final are sent while backward computes the others. Only a few pieces are
// received at once, so that they are in the cache when they are added.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ranks.h"
#include "core/real.h"

namespace heed::inline HEED_REAL {

struct ElementRange {
  int64_t first = 0, last = 0;
  int64_t size() const { return last - first; }
};

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

}  // namespace heed::inline HEED_REAL
