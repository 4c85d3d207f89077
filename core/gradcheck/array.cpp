#include "core/gradcheck/array.h"

#include "core/random.h"

namespace heed::inline HEED_REAL::testing {

Index Index::with(int axis, int64_t value) const {
  Index other = *this;
  other.at[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = value;
  return other;
}

Index Index::inserted(int axis, int64_t value) const {
  Index other;
  other.rank = rank + 1;
  for (int a = 0; a <= rank; ++a)
    other.at[static_cast<size_t>(a)] = a == axis ? value : (*this)[a < axis ? a : a - 1];
  return other;
}

Index Index::without(int axis) const {
  Index other;
  for (int a = 0; a < rank; ++a)
    if (a != axis) other.at[static_cast<size_t>(other.rank++)] = (*this)[a];
  return other;
}

Index index_of(const Shape& shape, int64_t i) {
  Index index;
  index.rank = shape.rank();
  for (int a = shape.rank() - 1; a >= 0; --a) {
    index.at[static_cast<size_t>(a)] = i % shape[a];
    i /= shape[a];
  }
  return index;
}

std::vector<Index> indices(const Shape& shape) {
  std::vector<Index> all;
  for (int64_t i = 0; i < shape.size(); ++i) all.push_back(index_of(shape, i));
  return all;
}

double Array::operator()(const Index& index) const {
  int64_t position = 0;
  for (int a = 0; a < shape.rank(); ++a)
    position = position * shape[a] + (shape[a] == 1 ? 0 : index[index.rank - shape.rank() + a]);
  return values.at(static_cast<size_t>(position));
}

Ids random_ids(const Shape& shape, int64_t n) {
  Ids ids = Ids::empty(shape);
  Random random(11, Purpose::test);
  for (int64_t i = 0; i < shape.size(); ++i)
    ids.mutable_data()[i] = static_cast<int32_t>(random.below(static_cast<uint64_t>(n)));
  return ids;
}

}  // namespace heed::inline HEED_REAL::testing
