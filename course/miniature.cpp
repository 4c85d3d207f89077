// The whole thing on one page: a Transformer that learns to spell, with the standard library only.
//
//   g++ -O2 -std=c++20 -o miniature miniature.cpp && ./miniature /usr/share/dict/words 5000
//
// Trains for 5,000 steps of one word each, then invents words. T is the length of a word, C the
// width of the model, H the number of heads, K = C / H the width of a head, V the number of tokens.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

constexpr int vocabulary = 27, max_length = 16, width = 16, heads = 4;
using Ids = std::vector<int>;  // tokens

// 1. Reverse-mode autodiff. ----------------------------------------------------------------------
// A function computes y = f(a, b) at once, and puts onto the tape how to go back: from dy, the
// gradient of the loss with respect to y, to da and db. backward() plays the tape from its end.

struct Matrix {
  int rows, columns;
  std::vector<double> values, gradients;  // row by row; a gradient is d loss / d value
  double* row(int r) { return &values[r * columns]; }
  double* gradient(int r) { return &gradients[r * columns]; }
};
using Tensor = std::shared_ptr<Matrix>;

Tensor zeros(int rows, int columns) {
  const std::vector<double> zero(static_cast<size_t>(rows * columns));
  return std::make_shared<Matrix>(Matrix{rows, columns, zero, zero});
}

std::vector<std::function<void()>> tape;
void backward(const Tensor& loss) {  // (1 × 1)
  loss->gradients[0] = 1;
  for (size_t i = tape.size(); i-- > 0;) tape[i]();
  tape.clear();
}

// 2. Functions and their derivatives. ------------------------------------------------------------
// Gradients are added up, because an argument may be used more than once.

double dot(const double* a, const double* b, int n) { return std::inner_product(a, a + n, b, 0.0); }
void add_scaled(double* y, double factor, const double* x, int n) {  // y += factor x
  for (int i = 0; i < n; ++i) y[i] += factor * x[i];
}

// y_t = table[ids_t]   (V × C) → (T × C)
Tensor embed(const Tensor& table, const Ids& ids) {
  Tensor y = zeros(static_cast<int>(ids.size()), table->columns);
  for (int t = 0; t < y->rows; ++t) std::copy_n(table->row(ids[t]), y->columns, y->row(t));
  tape.push_back([=] {  // dtable[ids_t] += dy_t
    for (int t = 0; t < y->rows; ++t)
      add_scaled(table->gradient(ids[t]), 1, y->gradient(t), y->columns);
  });
  return y;
}

// y = a + b
Tensor add(const Tensor& a, const Tensor& b) {
  Tensor y = zeros(a->rows, a->columns);
  const int size = y->rows * y->columns;
  for (const Tensor& x : {a, b}) add_scaled(y->row(0), 1, x->row(0), size);
  tape.push_back([=] {  // da += dy, db += dy
    for (const Tensor& x : {a, b}) add_scaled(x->gradient(0), 1, y->gradient(0), size);
  });
  return y;
}

// y = max(x, 0)
Tensor relu(const Tensor& x) {
  Tensor y = zeros(x->rows, x->columns);
  const int size = y->rows * y->columns;
  for (int i = 0; i < size; ++i) y->values[i] = std::max(x->values[i], 0.0);
  tape.push_back([=] {  // dx += dy where x > 0
    for (int i = 0; i < size; ++i) x->gradients[i] += x->values[i] > 0 ? y->gradients[i] : 0;
  });
  return y;
}

// y = x wᵀ: a linear layer   (T × in), (out × in) → (T × out)
Tensor linear(const Tensor& x, const Tensor& w) {
  Tensor y = zeros(x->rows, w->rows);
  for (int t = 0; t < y->rows; ++t)
    for (int o = 0; o < w->rows; ++o) y->row(t)[o] = dot(x->row(t), w->row(o), w->columns);
  tape.push_back([=] {  // dx += dy w, dw += dyᵀ x
    for (int t = 0; t < y->rows; ++t)
      for (int o = 0; o < w->rows; ++o) {
        add_scaled(x->gradient(t), y->gradient(t)[o], w->row(o), w->columns);
        add_scaled(w->gradient(o), y->gradient(t)[o], x->row(t), w->columns);
      }
  });
  return y;
}

// y_t = g n_t with n_t = x_t / √(mean(x_t²) + ε): RMSNorm (Zhang & Sennrich 2019)
Tensor rms_norm(const Tensor& x, const Tensor& g) {  // (T × C), (1 × C) → (T × C)
  const int n = x->columns;
  Tensor y = zeros(x->rows, n), normalised = zeros(x->rows, n);
  std::vector<double> scale(x->rows);  // 1 / √(mean(x_t²) + ε)
  for (int t = 0; t < x->rows; ++t) {
    scale[t] = 1 / std::sqrt(dot(x->row(t), x->row(t), n) / n + 1e-5);
    add_scaled(normalised->row(t), scale[t], x->row(t), n);
    for (int c = 0; c < n; ++c) y->row(t)[c] = g->row(0)[c] * normalised->row(t)[c];
  }
  tape.push_back([=] {  // dg += dy n, dn = g dy, dx += scale (dn − n mean(dn n))
    for (int t = 0; t < x->rows; ++t) {
      double* dn = normalised->gradient(t);
      for (int c = 0; c < n; ++c) {
        g->gradient(0)[c] += y->gradient(t)[c] * normalised->row(t)[c];
        dn[c] = g->row(0)[c] * y->gradient(t)[c];
      }
      const double mean = dot(dn, normalised->row(t), n) / n;
      add_scaled(x->gradient(t), scale[t], dn, n);
      add_scaled(x->gradient(t), -scale[t] * mean, normalised->row(t), n);
    }
  });
  return y;
}

// s = exp(s) / Σ exp(s), of n scores. Subtracting a number changes nothing but prevents overflow.
void softmax(double* s, int n) {
  const double maximum = *std::max_element(s, s + n);
  for (int j = 0; j < n; ++j) s[j] = std::exp(s[j] - maximum);
  const double sum = std::accumulate(s, s + n, 0.0);
  for (int j = 0; j < n; ++j) s[j] /= sum;
}

// Causal multi-head attention (Vaswani et al. 2017, section 3.2). Head h reads columns h K to
// (h + 1) K of q, k and v, and computes in the same columns of y
//   y_t = Σ_j p_tj v_j   with   p_t = softmax(q_t · k_j / √K, over j ≤ t),
// a weighted mean of values: the better key j matches query t, the larger the weight of value j.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  const int length = q->rows, n = q->columns / heads;  // T, K
  const double scale = 1 / std::sqrt(n);
  Tensor y = zeros(length, q->columns), weights = zeros(heads * length, length);
  for (int i = 0; i < heads * length; ++i) {
    const int t = i % length, c = i / length * n;  // position, first column of the head
    double* p = weights->row(i);
    for (int j = 0; j <= t; ++j) p[j] = scale * dot(q->row(t) + c, k->row(j) + c, n);
    softmax(p, t + 1);
    for (int j = 0; j <= t; ++j) add_scaled(y->row(t) + c, p[j], v->row(j) + c, n);
  }
  tape.push_back([=] {
    for (int i = 0; i < heads * length; ++i) {
      const int t = i % length, c = i / length * n;
      const double *p = weights->row(i), *dy = y->gradient(t) + c;
      double* dp = weights->gradient(i);
      for (int j = 0; j <= t; ++j) {  // dp_j = dy · v_j, dv_j += p_j dy
        dp[j] = dot(dy, v->row(j) + c, n);
        add_scaled(v->gradient(j) + c, p[j], dy, n);
      }
      const double mean = dot(p, dp, t + 1);
      for (int j = 0; j <= t; ++j) {  // ds_j = p_j (dp_j − Σ p dp), dq += ds_j k_j, dk_j += ds_j q
        const double ds = scale * p[j] * (dp[j] - mean);
        add_scaled(q->gradient(t) + c, ds, k->row(j) + c, n);
        add_scaled(k->gradient(j) + c, ds, q->row(t) + c, n);
      }
    }
  });
  return y;
}

// The mean over t of −log softmax(x_t)[targets_t]   (T × V) → (1 × 1)
Tensor cross_entropy(const Tensor& x, const Ids& targets) {
  Tensor loss = zeros(1, 1), p = std::make_shared<Matrix>(*x);
  for (int t = 0; t < x->rows; ++t) {
    softmax(p->row(t), p->columns);
    loss->values[0] -= std::log(p->row(t)[targets[t]]) / x->rows;
  }
  tape.push_back([=] {  // dx_t += (p_t − 1 at the target) / T
    for (int t = 0; t < x->rows; ++t) {
      add_scaled(x->gradient(t), loss->gradients[0] / x->rows, p->row(t), x->columns);
      x->gradient(t)[targets[t]] -= loss->gradients[0] / x->rows;
    }
  });
  return loss;
}

// 3. The model. ----------------------------------------------------------------------------------
// A decoder-only Transformer (Radford et al. 2018) with one layer and pre-norm: attention and a
// feed-forward network each read a normalised x, and add to x what they computed.

struct Model {
  std::vector<Tensor> parameters;
  Tensor token, position, attention_norm, query, key, value, output;
  Tensor feed_forward_norm, up, down, norm, head;

  explicit Model(std::mt19937_64& random) {
    const auto parameter = [&](int rows, int columns, double mean, double deviation) {
      parameters.push_back(zeros(rows, columns));
      std::normal_distribution<double> normal;
      for (double& each : parameters.back()->values) each = mean + deviation * normal(random);
      return parameters.back();
    };
    const double deviation = 1 / std::sqrt(width);  // a linear layer's output varies as its input
    token = parameter(vocabulary, width, 0, 0.1), position = parameter(max_length, width, 0, 0.1);
    for (Tensor* w : {&query, &key, &value, &output}) *w = parameter(width, width, 0, deviation);
    up = parameter(4 * width, width, 0, deviation), down = parameter(width, 4 * width, 0, 0.1);
    head = parameter(vocabulary, width, 0, deviation);
    for (Tensor* g : {&attention_norm, &feed_forward_norm, &norm}) *g = parameter(1, width, 1, 0);
  }

  // Row t of the result scores every token for position t + 1.   T ids → (T × V)
  Tensor logits(const Ids& ids) const {
    Ids positions(ids.size());
    std::iota(positions.begin(), positions.end(), 0);
    Tensor x = add(embed(token, ids), embed(position, positions));
    const Tensor n = rms_norm(x, attention_norm);
    x = add(x, linear(attention(linear(n, query), linear(n, key), linear(n, value)), output));
    x = add(x, linear(relu(linear(rms_norm(x, feed_forward_norm), up)), down));
    return linear(rms_norm(x, norm), head);
  }
};

// 4. Adam (Kingma & Ba 2015, algorithm 1). -------------------------------------------------------
// A step goes along m, the mean of recent gradients, divided by √v, the root of their mean square:
// every parameter moves by about the learning rate. m and v start at zero; 1 − βⁿ corrects that.

struct Adam {
  std::vector<std::vector<double>> m, v;  // of each parameter
  int steps = 0;

  void step(const std::vector<Tensor>& parameters, double lr) {
    const double beta1 = 0.9, beta2 = 0.99, epsilon = 1e-8;
    ++steps;
    const double rate = lr / (1 - std::pow(beta1, steps)), correction = 1 - std::pow(beta2, steps);
    for (size_t p = 0; p < parameters.size(); ++p) {
      Matrix& w = *parameters[p];
      if (steps == 1) m.emplace_back(w.values.size()), v.emplace_back(w.values.size());
      for (size_t i = 0; i < w.values.size(); ++i) {
        const double g = std::exchange(w.gradients[i], 0);  // zero for the next step
        m[p][i] = beta1 * m[p][i] + (1 - beta1) * g;
        v[p][i] = beta2 * v[p][i] + (1 - beta2) * g * g;
        w.values[i] -= rate * m[p][i] / (std::sqrt(v[p][i] / correction) + epsilon);
      }
    }
  }
};

// 5. Data, training, generation. Token 0 begins and ends a word, 1 to 26 are letters. ------------

std::vector<Ids> read_words(const char* path) {
  std::vector<Ids> words;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const bool letters = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == line.npos;
    if (line.empty() || line.size() >= max_length || !letters) continue;
    words.push_back({0});
    for (const char letter : line) words.back().push_back(letter - 'a' + 1);
    words.back().push_back(0);
  }
  return words;
}

// Predicts each token of a word from those before it, and updates the model. Returns the loss.
double train_step(const Model& model, Adam& adam, const Ids& word, double lr) {
  const Ids inputs(word.begin(), word.end() - 1), targets(word.begin() + 1, word.end());
  const Tensor loss = cross_entropy(model.logits(inputs), targets);
  backward(loss);
  adam.step(model.parameters, lr);
  return loss->values[0];
}

// Draws one letter after the other from the predicted probabilities, until the end of the word.
std::string invent(const Model& model, std::mt19937_64& random) {
  std::string word;
  for (Ids ids{0}; ids.size() < max_length; word += static_cast<char>('a' + ids.back() - 1)) {
    const Tensor scores = model.logits(ids);
    tape.clear();  // no gradients are needed
    double* p = scores->row(scores->rows - 1);
    softmax(p, vocabulary);
    ids.push_back(std::discrete_distribution<int>(p, p + vocabulary)(random));
    if (ids.back() == 0) break;
  }
  return word;
}

int main(int count, char** arguments) {
  const char* path = count > 1 ? arguments[1] : "/usr/share/dict/words";
  const int steps = count > 2 ? std::stoi(arguments[2]) : 5000;
  const std::vector<Ids> words = read_words(path);
  if (words.empty()) return std::fprintf(stderr, "%s: expected words of letters a to z\n", path), 2;
  std::mt19937_64 random(1);
  const Model model(random);
  Adam adam;
  double sum = 0;
  for (int step = 1; step <= steps; ++step) {
    sum += train_step(model, adam, words[random() % words.size()], 0.01 * (1 - 1.0 * step / steps));
    if (step % 1000 == 0) std::printf("step %d  loss %.3f\n", step, std::exchange(sum, 0) / 1000);
  }
  for (int i = 0; i < 8; ++i) std::printf("%s\n", invent(model, random).c_str());
  return 0;
}
