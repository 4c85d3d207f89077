// Eigenvalues of a real matrix that need not be symmetric.
#pragma once

#include <complex>
#include <vector>

namespace heed {

// Returns the eigenvalues of a matrix of n rows, row-major, by the QR algorithm with shifts on its
// Hessenberg form (Golub & Van Loan 2013, "Matrix Computations", section 7.5). Throws Error if they
// do not converge.
std::vector<std::complex<double>> eigenvalues(const std::vector<double>& matrix, int n);

}  // namespace heed
