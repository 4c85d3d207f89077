#include "course/grader/grader.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::course {

[[gnu::weak]] Tensor attend_next(Tensor& keys, Tensor& values, const Tensor& q, const Tensor& k,
                                 const Tensor& v);
[[gnu::weak]] void continue_rows(Tensor& keys, Tensor& values, const std::vector<int64_t>& rows);

namespace {

// A call of attend_next, and of continue_rows before it unless `rows` is empty.
struct CacheStep {
  std::vector<int64_t> rows;
  Array q, k, v;
};

// The results of all steps, one after the other. Each text keeps what its positions have read.
std::vector<double> read_by_definition(const std::vector<CacheStep>& steps) {
  struct Position {
    std::vector<double> key, value;
  };
  std::vector<std::vector<Position>> texts;
  std::vector<double> results;
  for (const CacheStep& step : steps) {
    if (!step.rows.empty()) {
      std::vector<std::vector<Position>> continued;
      for (const int64_t row : step.rows) continued.push_back(texts[static_cast<size_t>(row)]);
      texts = continued;
    }
    texts.resize(static_cast<size_t>(step.q.shape[0]));
    const int64_t width = step.k.shape[2], value_width = step.v.shape[2];
    for (int64_t n = 0; n < step.q.shape[0]; ++n)
      for (int64_t i = 0; i < step.q.shape[1]; ++i) {
        std::vector<Position>& seen = texts[static_cast<size_t>(n)];
        Position own;
        for (int64_t c = 0; c < width; ++c) own.key.push_back(step.k(Index{{n, i, c}, 3}));
        for (int64_t c = 0; c < value_width; ++c) own.value.push_back(step.v(Index{{n, i, c}, 3}));
        seen.push_back(own);
        double total = 0;
        std::vector<double> z(own.value.size());
        for (const Position& position : seen) {
          const double dot = sum_over(width, [&](int64_t c) {
            return step.q(Index{{n, i, c}, 3}) * position.key[static_cast<size_t>(c)];
          });
          const double e = std::exp(dot / std::sqrt(static_cast<double>(width)));
          total += e;
          for (size_t c = 0; c < z.size(); ++c) z[c] += e * position.value[c];
        }
        for (const double each : z) results.push_back(each / total);
      }
  }
  return results;
}

}  // namespace

void grade_key_value_cache(Grader& g, decltype(&attend_next) attend,
                           decltype(&continue_rows) move_rows) {
  const int64_t width = g.size(5, 7), value_width = g.size(2, 4);
  std::vector<CacheStep> steps;
  const auto add = [&](std::vector<int64_t> rows, int64_t texts, int64_t count) {
    steps.push_back({std::move(rows), g.array({texts, count, width}, -1.5, 1.5),
                     g.array({texts, count, width}, -1.5, 1.5),
                     g.array({texts, count, value_width}, -1, 1)});
  };
  add({}, 3, g.size(3, 4));  // a prompt
  add({}, 3, 1);
  add({}, 3, g.size(2, 3));
  add({2, 0, 1}, 3, 1);
  add({1, 0, 0}, 3, 2);
  add({0, 2, 2, 1}, 4, 1);  // another text
  add({3, 1}, 2, 1);

  const auto tensor = [](const Array& x) { return Tensor::from(x.shape, x.values); };
  std::vector<double> got;
  std::vector<std::string> names;  // of each element
  Tensor keys, values;
  int64_t length = 0;
  std::string wrong_rows;
  const auto misshapen = [&](int64_t texts) -> std::string {
    const auto wrong = [&](const char* name, const Tensor& kept, int64_t columns) -> std::string {
      const Shape shape{texts, length, columns};
      if (kept && kept.shape() == shape) return "";
      return fmt::format("{}: expected the shape {}, got {}", name, shape,
                         kept ? fmt::format("{}", kept.shape()) : "an empty tensor");
    };
    const std::string of_keys = wrong("keys", keys, width);
    return of_keys.empty() ? wrong("values", values, value_width) : of_keys;
  };
  for (size_t s = 0; s < steps.size() && g.passed(); ++s) {
    const auto& [rows, q, k, v] = steps[s];
    if (!rows.empty()) {
      move_rows(keys, values, rows);
      wrong_rows = misshapen(q.shape[0]);
      if (!wrong_rows.empty()) break;  // what came before may say why
    }
    const Tensor z = attend(keys, values, tensor(q), tensor(k), tensor(v));
    length += q.shape[1];
    const std::string name = fmt::format("call {} of attend_next", s + 1);
    g.expect(z && z.shape() == v.shape,
             fmt::format("{}: expected the shape {}, got {}", name, v.shape,
                         z ? fmt::format("{}", z.shape()) : "an empty tensor"));
    if (!g.passed()) return;
    for (const Index& i : indices(v.shape))
      names.push_back(fmt::format("{} [{}, {}, {}]", name, i[0], i[1], i[2]));
    for (int64_t i = 0; i < z.size(); ++i) got.push_back(static_cast<double>(z.data()[i]));
  }
  std::string sentence;
  if (std::ranges::all_of(got, [](double x) { return x == 0; }))
    sentence = "Every element is 0: nothing is computed yet.";
  if (std::ranges::any_of(got, [](double x) { return std::isnan(x); }))
    sentence = "Not a number: 0/0, ∞ - ∞, or memory that was never written.";
  std::vector<double> expected = read_by_definition(steps);
  expected.resize(got.size());
  g.check(Numbers{.what = [&](size_t i) { return names[i]; },
                  .got = got,
                  .expected = expected,
                  .sentence = sentence,
                  .tolerance = 1e-7});
  g.expect(wrong_rows.empty(), fmt::format("after continue_rows, {}", wrong_rows));
  if (g.passed()) wrong_rows = misshapen(2);
  g.expect(wrong_rows.empty(), fmt::format("after all calls, {}", wrong_rows));
}

namespace {
namespace key_value_cache_answers {

// Returns whether a key is hidden from new position i, of `count`, among `all` keys.
using Hides = bool (*)(int64_t i, int64_t key, int64_t count, int64_t all);
bool later(int64_t i, int64_t key, int64_t count, int64_t all) { return i + all - count < key; }

// Attention to what is kept, with scores that are divided by √K, this many times.
Tensor attention(const Tensor& keys, const Tensor& values, const Tensor& q, Hides hides = later,
                 int roots = 1, int sign = 1) {
  const int64_t count = q.dim(1), all = keys.dim(1);
  Ids hidden = Ids::full({count, all}, 0);
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < all; ++j) hidden.mutable_data()[i * all + j] = hides(i, j, count, all);
  const double scale = std::pow(static_cast<double>(q.dim(2)), roots / 2.0);
  const Tensor scores = matmul(sign * q, transpose(keys, -1, -2)) / scale;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return matmul(softmax(masked_fill(scores, hidden, -infinity)), values);
}

void append(Tensor& keys, Tensor& values, const Tensor& k, const Tensor& v) {
  keys = keys ? concat({keys, k}, 1) : k;
  values = values ? concat({values, v}, 1) : v;
}

template <auto hides, int roots = 1, int sign = 1>
Tensor attend(Tensor& keys, Tensor& values, const Tensor& q, const Tensor& k, const Tensor& v) {
  append(keys, values, k, v);
  return attention(keys, values, q, hides, roots, sign);
}

Tensor rows_of(const Tensor& x, const std::vector<int64_t>& rows) {
  std::vector<Tensor> parts;
  for (const int64_t row : rows) parts.push_back(slice(x, 0, row, row + 1));
  return concat(parts, 0);
}
void move(Tensor& keys, Tensor& values, const std::vector<int64_t>& rows) {
  keys = rows_of(keys, rows), values = rows_of(values, rows);
}

int64_t row_size(const Tensor& x) { return x.dim(1) * x.dim(2); }

constexpr auto right = attend<later>;

const Exercise key_value_cache_exercise(
    "key_value_cache", grade_key_value_cache, {attend_next, continue_rows},
    {{"", {right, move}},
     {"Each call attends only to its own positions: what earlier calls have read is not kept, or "
      "not used.",
      {[](Tensor& keys, Tensor& values, const Tensor& q, const Tensor& k, const Tensor& v) {
         append(keys, values, k, v);
         return attention(k, v, q);
       },
       move}},
     {"Only the positions of the last call are kept. Append the new ones to all earlier ones.",
      {[](Tensor& keys, Tensor& values, const Tensor& q, const Tensor& k, const Tensor& v) {
         const Tensor z = right(keys, values, q, k, v);
         keys = k, values = v;
         return z;
       },
       move}},
     {"Each of several new positions attends to all of them. A position must not see later ones.",
      {attend<[](int64_t, int64_t, int64_t, int64_t) { return false; }>, move}},
     {"A position does not attend to itself: append before attending.",
      {attend<[](int64_t i, int64_t key, int64_t count, int64_t all) {
         return i + all - count <= key;
       }>,
       move}},
     {"The mask treats the new positions as the first ones of the text. New position i has the "
      "position t + i.",
      {attend<[](int64_t i, int64_t key, int64_t, int64_t) { return i < key; }>, move}},
     {"The scores are not divided by √K.", {attend<later, 0>, move}},
     {"The scores are divided by K, not by its root.", {attend<later, 2>, move}},
     {"The scores are negated: keys that fit a query less get the larger weights.",
      {attend<later, 1, -1>, move}},
     {"continue_rows has no effect: the texts stay as they were.",
      {right, [](Tensor&, Tensor&, const std::vector<int64_t>&) {}}},
     {"Only the keys follow their rows. Move the values in the same way.",
      {right,
       [](Tensor& keys, Tensor& values, const std::vector<int64_t>& rows) {
         const Tensor before = values;
         move(keys, values, rows);
         std::copy_n(before.data(), std::min(before.dim(0), values.dim(0)) * row_size(before),
                     values.mutable_data());
       }}},
     {"The rows go the other way: text n must continue what text rows[n] has read.",
      {right,
       [](Tensor& keys, Tensor& values, const std::vector<int64_t>& rows) {
         const Tensor before[] = {keys, values};
         move(keys, values, rows);
         if (before[0].dim(0) != std::ssize(rows)) return;
         for (const auto& [from, to] :
              {std::pair(&before[0], &keys), std::pair(&before[1], &values)})
           for (int64_t n = 0; n < from->dim(0); ++n)
             std::copy_n(from->data() + n * row_size(*from), row_size(*from),
                         to->mutable_data() + rows[static_cast<size_t>(n)] * row_size(*from));
       }}},
     {"A row is overwritten before another text has copied it: copy into a new tensor.",
      {right, [](Tensor& keys, Tensor& values, const std::vector<int64_t>& rows) {
         if (keys.dim(0) != std::ssize(rows)) return move(keys, values, rows);
         for (Tensor* x : {&keys, &values})
           for (int64_t n = 0; n < x->dim(0); ++n)
             std::copy_n(x->data() + rows[static_cast<size_t>(n)] * row_size(*x), row_size(*x),
                         x->mutable_data() + n * row_size(*x));
       }}}});

}  // namespace key_value_cache_answers
}  // namespace
}  // namespace heed::course
