// Finds the weights of history frames. Both methods solve a small symmetric system by Cholesky decomposition, in
// double.
#include <algorithm>
#include <cmath>
#include <string>

#include "c63/filter_checks.h"
#include "c63/filters.h"

namespace c63 {
namespace {

/// Solves (A + ε·E) x = b, where E is the unit matrix and ε is `epsilon` times the mean of A's diagonal. A must be
/// symmetric and positive definite; it is stored in rows of b.size().
std::vector<double> solve(std::vector<double> a, std::vector<double> b, double epsilon, const std::string& what) {
  const std::size_t n = b.size();
  double trace = 0;
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) trace += a[i * n + i];
  for (std::size_t i = 0; i < n; ++i) {
    a[i * n + i] += epsilon * trace / static_cast<double>(n);
    largest = std::max(largest, a[i * n + i]);
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double value = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) value -= a[i * n + k] * a[j * n + k];
      if (i != j) {
        a[i * n + j] = value / a[j * n + j];
      } else if (value > 1e-12 * largest) {
        a[i * n + i] = std::sqrt(value);
      } else {
        throw Error(ErrorKind::input, "C63-WHITEN-SINGULAR",
                    what + " depend on each other: the system has no unique solution; set epsilon above 0");
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
  return b;
}

std::vector<double> monomials(const FrameShift& shift, int degree) {
  std::vector<double> values;
  for (int total = 0; total <= degree; ++total) {
    for (int i = 0; i <= total; ++i) {
      double value = 1;
      for (int k = 0; k < total - i; ++k) value *= shift.dx;
      for (int k = 0; k < i; ++k) value *= shift.dy;
      values.push_back(value);
    }
  }
  return values;
}

}  // namespace

void check_whitening(const WhiteningSettings& s) {
  require(s.memory >= 1 && s.memory <= kMaxMemory, "C63-WHITEN-SETTING",
          "a memory of " + std::to_string(s.memory) + " frames: 1 to " + std::to_string(kMaxMemory) + " can be kept");
  require(s.degree >= 0 && s.degree <= kMaxDegree, "C63-WHITEN-SETTING",
          "degree " + std::to_string(s.degree) + ": 0 to " + std::to_string(kMaxDegree) + " can be fitted");
  require(std::isfinite(s.epsilon) && s.epsilon >= 0, "C63-WHITEN-SETTING", "epsilon must be 0 or more");
  require(!s.reject || (std::isfinite(*s.reject) && *s.reject > 0), "C63-WHITEN-SETTING",
          "the number of deviations beyond which samples are rejected must be above 0");
}

std::vector<double> shift_weights(const FrameShift& frame, std::span<const FrameShift> history, int degree,
                                  double epsilon) {
  WhiteningSettings settings;
  settings.memory = static_cast<int>(std::min<std::size_t>(history.size(), 1'000'000));
  settings.degree = degree;
  settings.epsilon = epsilon;
  check_whitening(settings);
  std::vector<std::vector<double>> phi;
  for (const FrameShift& shift : history) phi.push_back(monomials(shift, degree));
  const std::vector<double> target = monomials(frame, degree);
  const std::size_t n = target.size();
  std::vector<double> normal(n * n);
  for (const auto& row : phi) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) normal[i * n + j] += row[i] * row[j];
    }
  }
  const std::vector<double> solution =
      solve(std::move(normal), target, epsilon,
            "the shifts of " + std::to_string(history.size()) + " frames, for " + std::to_string(n) +
                " monomials up to degree " + std::to_string(degree) + ",");
  std::vector<double> weights;
  for (const auto& row : phi) {
    double weight = 0;
    for (std::size_t i = 0; i < n; ++i) weight += row[i] * solution[i];
    weights.push_back(weight);
  }
  return weights;
}

std::vector<double> correlation_weights(std::span<const double> r, std::span<const double> b, double epsilon) {
  require(!b.empty() && r.size() == b.size() * b.size(), "C63-FILTER-SHAPE",
          "correlations of " + std::to_string(b.size()) + " frames come with a matrix of " + std::to_string(r.size()) +
              " values");
  return solve({r.begin(), r.end()}, {b.begin(), b.end()}, epsilon,
               "the " + std::to_string(b.size()) + " history frames");
}

}  // namespace c63
