// Computes the weights of the history on the device, so that nothing waits for the host. One thread block builds a
// small symmetric system of equations and solves it, in double precision.
#include "cuda_me/filters/shift_common.cuh"

namespace c63::cuda::kernels {
namespace {

constexpr int kMonomials = (kMaxDegree + 1) * (kMaxDegree + 2) / 2;
constexpr int kThreads = 256;

struct WeightsArguments {
  int memory;
  int degree;
  double epsilon;
  bool correlation;
};

/// Solves (A + ε · t · E) x = b, where t is the mean of A's diagonal and E the unit matrix. Rows 0 to n − 1 of `a` are
/// A. Row n is b, and becomes x. Returns false if the system is singular. All threads call it. The matrix is factored
/// as L·D·Lᵀ. Each step computes one reciprocal, eliminates one unknown from the rows below and from b, and ends with a
/// barrier.
__device__ bool solve(double (*a)[kMaxMemory + 1], int n, double epsilon) {
  const int t = static_cast<int>(threadIdx.x);
  double trace = 0;
  double largest = 0;
  for (int i = 0; i < n; ++i) {
    trace += a[i][i];
    largest = fmax(largest, a[i][i]);
  }
  const double ridge = epsilon * trace / n;
  largest += ridge;
  __syncthreads();
  if (t < n) a[t][t] += ridge;
  __syncthreads();
  for (int k = 0; k < n; ++k) {
    const double pivot = a[k][k];
    if (!(pivot > 1e-12 * largest)) return false;
    const double inverse = 1 / pivot;
    const int side = n - k;  // the rows below row k; the last one is b
    for (int i = t; i < side * side; i += kThreads) {
      const int row = k + 1 + i / side;
      const int column = k + 1 + i % side;
      if (column <= row && column < n) a[row][column] -= a[row][k] * inverse * a[column][k];
    }
    __syncthreads();
  }
  // Back substitution by one warp: computes x_k from the last to the first, and subtracts its part from the rows before
  // row k. Each lane works on two rows, and keeps their values in registers.
  if (t < 32) {
    double rest[2] = {t < n ? a[n][t] : 0, t + 32 < n ? a[n][t + 32] : 0};
    const double inverse[2] = {t < n ? 1 / a[t][t] : 0, t + 32 < n ? 1 / a[t + 32][t + 32] : 0};
    for (int k = n - 1; k >= 0; --k) {
      const double x = __shfl_sync(0xFFFFFFFFU, k < 32 ? rest[0] * inverse[0] : rest[1] * inverse[1], k % 32);
      if (t < k) rest[0] -= a[k][t] * x;
      if (t + 32 < k) rest[1] -= a[k][t + 32] * x;
    }
    if (t < n) a[n][t] = rest[0] * inverse[0];
    if (t + 32 < n) a[n][t + 32] = rest[1] * inverse[1];
  }
  __syncthreads();
  return true;
}

template <typename Sample>
__global__ void __launch_bounds__(kThreads) weights_kernel(WeightsArguments arguments, const Sum<Sample>* texture,
                                                           Sum<Sample>* sums, Sum<Sample>* products, float* weights,
                                                           WhiteningStatus* status) {
  __shared__ double a[kMaxMemory + 1][kMaxMemory + 1];
  __shared__ double phi[kListedFrames][kMonomials];
  const int t = static_cast<int>(threadIdx.x);
  const int frames = arguments.memory + 1;
  const double u = static_cast<double>(texture[0]) / 4;
  const double v = static_cast<double>(texture[1]) / 4;
  const double w = static_cast<double>(texture[2]) / 4;
  const double determinant = u * w - v * v;
  const bool textured = determinant > 1e-9 * u * w;
  for (int f = t; f < frames; f += kThreads) {
    const double p = static_cast<double>(sums[2 * f]) / 10;
    const double q = static_cast<double>(sums[2 * f + 1]) / 10;
    sums[2 * f] = 0;
    sums[2 * f + 1] = 0;
    const double dx = textured ? (q * w - p * v) / determinant : 0;
    const double dy = textured ? (p * u - q * v) / determinant : 0;
    if (f == 0) {
      status->textured_shift = textured;
      status->shift = {dx, dy};
    }
    int at = 0;
    for (int total = 0; total <= arguments.degree; ++total) {
      for (int i = 0; i <= total; ++i) {
        double value = 1;
        for (int k = 0; k < total - i; ++k) value *= dx;
        for (int k = 0; k < i; ++k) value *= dy;
        phi[f][at++] = value;
      }
    }
  }
  __syncthreads();

  bool solved = true;
  if (arguments.correlation) {
    const int n = arguments.memory;
    for (int i = t; i < (n + 1) * n; i += kThreads) {
      const int row = i / n, column = i % n;
      const int k = row == n ? 0 : min(row, column) + 1, l = row == n ? column + 1 : max(row, column) + 1;
      a[row][column] = static_cast<double>(products[k * frames + l]);
    }
    __syncthreads();
    for (int i = t; i < frames * frames; i += kThreads) products[i] = 0;
    solved = solve(a, n, arguments.epsilon);
    if (t < n) weights[t] = solved ? static_cast<float>(a[n][t]) : 0.0F;
  } else {
    const int n = (arguments.degree + 1) * (arguments.degree + 2) / 2;
    for (int i = t; i < (n + 1) * n; i += kThreads) {
      const int row = i / n, column = i % n;
      double total = 0;
      for (int k = 1; k < frames; ++k) total += phi[k][row == n ? 0 : row] * phi[k][column];
      a[row][column] = row == n ? phi[0][column] : total;
    }
    __syncthreads();
    solved = textured && solve(a, n, arguments.epsilon);
    if (t < arguments.memory) {
      double weight = 0;
      if (solved) {
        for (int i = 0; i < n; ++i) weight += phi[t + 1][i] * a[n][i];
      }
      weights[t] = static_cast<float>(weight);
    }
    if (t == 0 && !textured) status->textureless = 1;
    solved = solved || !textured;
  }
  if (t == 0 && !solved) status->singular = 1;
}

}  // namespace

template <typename Sample>
void solve_weights(CUstream_st* stream, const WhiteningSettings& settings, const Sum<Sample>* texture,
                   Sum<Sample>* sums, Sum<Sample>* products, float* weights, WhiteningStatus* status) {
  const WeightsArguments arguments{settings.memory, settings.degree, settings.epsilon,
                                   settings.method == WhiteningMethod::correlation};
  launch("weights", weights_kernel<Sample>, {dim3(1), dim3(kThreads)}, stream, arguments, texture, sums, products,
         weights, status);
}

template void solve_weights<std::uint8_t>(CUstream_st*, const WhiteningSettings&, const std::int64_t*, std::int64_t*,
                                          std::int64_t*, float*, WhiteningStatus*);
template void solve_weights<float>(CUstream_st*, const WhiteningSettings&, const double*, double*, double*, float*,
                                   WhiteningStatus*);

}  // namespace c63::cuda::kernels
