// Where the embeddings of tokens lie: their first two principal components.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "apps/support/json.h"
#include "lab/inspect/inspected.h"

namespace heed {

// Principal components of vectors.
struct Components {
  std::vector<std::array<double, 2>> points;  // of each vector, the first two components
  std::vector<double> shares;                 // of the variance, by component, descending
};
// Returns the principal components of n vectors of one size, after their mean is subtracted: the
// eigenvectors of their (n × n) inner products, by Jacobi's rotations (Golub & Van Loan 2013,
// section 8.5).
Components principal_components(const std::vector<std::vector<double>>& vectors);

// The embeddings that the decoder, the language model or the classifier reads, of the tokens that
// are most frequent in the inputs of the examples; equal counts: the smaller id first.
struct Embeddings {
  std::vector<std::string> tokens;  // as the page writes them
  Components components;            // of their embeddings
};
// Throws InputError if the model embeds no tokens, or the examples have fewer than three.
Embeddings embeddings(const Inspected& inspected, size_t most);

}  // namespace heed
