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

// What texts have read, by the definition, and how it may go wrong.
struct CachedReader {
  enum Order { all_rows, only_keys, no_row, inverse, in_place };
  Order order = all_rows;
  bool forgets = false, forgets_before = false, sees_later = false, not_itself = false;
  bool from_start = false, unscaled = false, by_width = false;

  struct Position {
    std::vector<double> key, value;
  };
  using Texts = std::vector<std::vector<Position>>;

  Texts continued(const Texts& texts, const std::vector<int64_t>& rows) const {
    if (rows.empty() || order == no_row) return texts;
    Texts result;
    for (size_t n = 0; n < rows.size(); ++n) {
      const auto row = static_cast<size_t>(rows[n]);
      result.push_back(texts[row]);
      if (order == only_keys && n < texts.size())
        for (size_t t = 0; t < result[n].size(); ++t) result[n][t].value = texts[n][t].value;
    }
    if (order == inverse && rows.size() == texts.size())
      for (size_t n = 0; n < rows.size(); ++n) result[static_cast<size_t>(rows[n])] = texts[n];
    if (order == in_place && rows.size() == texts.size()) {
      result = texts;
      for (size_t n = 0; n < rows.size(); ++n) result[n] = result[static_cast<size_t>(rows[n])];
    }
    return result;
  }

  std::vector<double> attend(const std::vector<Position>& seen, const double* q) const {
    std::vector<double> scores, z;
    const size_t width = seen.empty() ? 1 : seen[0].key.size();
    for (const Position& position : seen) {
      double dot = 0;
      for (size_t c = 0; c < width; ++c) dot += q[c] * position.key[c];
      const auto k = static_cast<double>(width);
      scores.push_back(unscaled ? dot : dot / (by_width ? k : std::sqrt(k)));
    }
    const double maximum = scores.empty() ? 0 : *std::max_element(scores.begin(), scores.end());
    double total = 0;
    for (double& s : scores) total += s = std::exp(s - maximum);
    for (size_t j = 0; j < seen.size(); ++j) {
      z.resize(seen[j].value.size());
      for (size_t c = 0; c < z.size(); ++c) z[c] += scores[j] / total * seen[j].value[c];
    }
    return z;
  }

  // The results of all steps, one after the other.
  std::vector<double> operator()(const std::vector<CacheStep>& steps) const {
    std::vector<double> results;
    Texts texts;
    for (const CacheStep& step : steps) {
      texts = continued(texts, step.rows);
      const auto count = static_cast<size_t>(step.q.shape[1]);
      texts.resize(static_cast<size_t>(step.q.shape[0]));
      for (size_t n = 0; n < texts.size(); ++n) {
        std::vector<Position>& text = texts[n];
        if (forgets) text.clear();
        const size_t before = text.size();
        const auto part = [&](const Array& x, size_t i) {
          const auto width = static_cast<size_t>(x.shape[2]);
          return x.values.data() + (n * count + i) * width;
        };
        for (size_t i = 0; i < count; ++i)
          text.push_back({{part(step.k, i), part(step.k, i) + step.k.shape[2]},
                          {part(step.v, i), part(step.v, i) + step.v.shape[2]}});
        for (size_t i = 0; i < count; ++i) {
          const size_t own = from_start ? i : before + i;
          const size_t last = sees_later ? text.size() : not_itself ? own : own + 1;
          std::vector<double> z =
              attend({text.begin(), text.begin() + static_cast<ptrdiff_t>(last)}, part(step.q, i));
          z.resize(static_cast<size_t>(step.v.shape[2]));
          results.insert(results.end(), z.begin(), z.end());
        }
        if (forgets_before) text.erase(text.begin(), text.begin() + static_cast<ptrdiff_t>(before));
      }
    }
    return results;
  }
};

struct CacheMistake {
  CachedReader reader;
  const char* sentence;
};

const CacheMistake cache_mistakes[] = {
    {{.forgets = true},
     "Each call attends only to its own positions: what earlier calls have read is not kept, or "
     "not "
     "used."},
    {{.forgets_before = true},
     "Only the positions of the last call are kept. Append the new ones to all earlier ones."},
    {{.sees_later = true},
     "Of several new positions each attends to all. A position must not see later ones."},
    {{.not_itself = true}, "A position does not attend to itself: append before attending."},
    {{.from_start = true},
     "The mask takes the new positions for the first ones of the text. New position i has the "
     "position t + i."},
    {{.unscaled = true}, "The scores are not divided by √K."},
    {{.by_width = true}, "The scores are divided by K, not by its root."},
    {{.order = CachedReader::no_row}, "continue_rows has no effect: the texts stay as they were."},
    {{.order = CachedReader::only_keys},
     "Only the keys follow their rows: values must be moved in the same way."},
    {{.order = CachedReader::inverse},
     "The rows go the other way: text n must continue what text rows[n] has read."},
    {{.order = CachedReader::in_place},
     "A row is overwritten before another text has copied it: copy into a new tensor."},
};

}  // namespace

void grade_key_value_cache(Grader& g,
                           Tensor (*attend_next)(Tensor& keys, Tensor& values, const Tensor& q,
                                                 const Tensor& k, const Tensor& v),
                           void (*continue_rows)(Tensor& keys, Tensor& values,
                                                 const std::vector<int64_t>& rows)) {
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
      continue_rows(keys, values, rows);
      wrong_rows = misshapen(q.shape[0]);
      if (!wrong_rows.empty()) break;  // what came before may say why
    }
    const Tensor z = attend_next(keys, values, tensor(q), tensor(k), tensor(v));
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
  const auto near = [&](double a, double b) { return std::fabs(a - b) <= 1e-7; };
  const auto agrees = [&](const CachedReader& reader) {
    const std::vector<double> results = reader(steps);
    return std::equal(got.begin(), got.end(), results.begin(), near);
  };
  std::string sentence;
  for (const CacheMistake& mistake : cache_mistakes)
    if (sentence.empty() && agrees(mistake.reader)) sentence = mistake.sentence;
  if (std::ranges::all_of(got, [](double x) { return x == 0; }))
    sentence = "Every element is 0: nothing is computed yet.";
  if (std::ranges::any_of(got, [](double x) { return std::isnan(x); }))
    sentence = "Not a number: 0/0, ∞ - ∞, or memory that was never written.";
  const std::vector<double> expected = CachedReader{}(steps);
  for (size_t i = 0; i < got.size(); ++i)
    g.expect(near(got[i], expected[i]),
             fmt::format("{}: got {:.6g}, expected {:.6g}", names[i], got[i], expected[i]),
             sentence);
  g.expect(wrong_rows.empty(), fmt::format("after continue_rows, {}", wrong_rows));
  if (g.passed()) wrong_rows = misshapen(2);
  g.expect(wrong_rows.empty(), fmt::format("after all calls, {}", wrong_rows));
}
HEED_GRADE(key_value_cache, attend_next, continue_rows);

}  // namespace heed::course
