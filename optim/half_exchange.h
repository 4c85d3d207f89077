// One exchange of the recursive halving (optim/rank_slices.h): a rank sends one half of a range to
// its partner, and adds what the partner sends to the other half. In pieces, so that those whose
// elements are final travel while backward computes the others.
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

  // Optional, any number of times before finish(): these elements will not change until then. Sends
  // the pieces that are complete with them, and never waits. An element is given at most once.
  void give(real* array, ElementRange range);
  // Passes on what is on its way, and never waits.
  void advance(real* array);
  // Exchanges all that has not been given, waits for the partner, and is ready for the next array.
  void finish(real* array);

 private:
  struct Half {
    ElementRange range;
    std::vector<int64_t> missing = {};  // elements of each piece that have not been given
    void reset();
    // Calls ready(piece) for each piece that has been given with these elements.
    template <class F>
    void give(ElementRange elements, F ready);
    // The same for all pieces that have not been given.
    template <class F>
    void give_rest(F ready);
    ElementRange piece(size_t i) const;
  };
  void send(const real* array, size_t piece);
  // Begins to receive as many given pieces as there are buffers.
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
  std::vector<size_t> given_;     // pieces of own_, in the order of their receiving
  std::array<Receiving, 4> in_;   // given_[i] in in_[i % 4]; few, as they are added from the cache
  size_t arrived_ = 0;            // of sent_
  size_t begun_ = 0, added_ = 0;  // of given_
};

}  // namespace heed::inline HEED_REAL
