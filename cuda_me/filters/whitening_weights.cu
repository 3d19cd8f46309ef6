// The weights of the history, on the device so that nothing waits for the host: one block builds the small symmetric
// system and solves it by Cholesky's method, in double and in the order of the CPU.
#include "cuda_me/filters/shift_common.cuh"

namespace c63::cuda::kernels {
namespace {

constexpr int kMonomials = (kMaxDegree + 1) * (kMaxDegree + 2) / 2;
constexpr int kThreads = kMaxMemory;  // a row of the system a thread

struct WeightsArguments {
  int memory;
  int degree;
  double epsilon;
  bool correlation;
};

/// Solves (A + ε · mean diagonal · E) x = b in place; false if it is singular. All threads call it.
__device__ bool solve(double (*a)[kMaxMemory + 1], double* b, int n, double epsilon) {
  __shared__ double largest;
  __shared__ double pivot;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    double trace = 0;
    for (int i = 0; i < n; ++i) trace += a[i][i];
    largest = 0;
    for (int i = 0; i < n; ++i) {
      a[i][i] += epsilon * trace / n;
      largest = fmax(largest, a[i][i]);
    }
  }
  __syncthreads();
  for (int k = 0; k < n; ++k) {
    if (t == 0) pivot = a[k][k] > 1e-12 * largest ? sqrt(a[k][k]) : 0;
    __syncthreads();
    if (pivot == 0) return false;
    if (t == k) a[k][k] = pivot;
    if (t > k && t < n) a[t][k] /= pivot;
    __syncthreads();
    if (t > k && t < n) {
      for (int j = k + 1; j <= t; ++j) a[t][j] -= a[t][k] * a[j][k];
    }
    __syncthreads();
  }
  for (int k = 0; k < n; ++k) {
    if (t == k) b[k] /= a[k][k];
    __syncthreads();
    if (t > k && t < n) b[t] -= a[t][k] * b[k];
    __syncthreads();
  }
  for (int k = n - 1; k >= 0; --k) {
    if (t == k) b[k] /= a[k][k];
    __syncthreads();
    if (t < k) b[t] -= a[k][t] * b[k];
    __syncthreads();
  }
  return true;
}

template <typename Sample>
__global__ void __launch_bounds__(kThreads) weights_kernel(WeightsArguments arguments, const Sum<Sample>* texture,
                                                           Sum<Sample>* sums, Sum<Sample>* products, float* weights,
                                                           WhiteningStatus* status) {
  __shared__ double a[kMaxMemory][kMaxMemory + 1];
  __shared__ double b[kMaxMemory];
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
    if (t < n) {
      b[t] = static_cast<double>(products[t + 1]);
      for (int j = 0; j < n; ++j) {
        const int k = min(t, j) + 1, l = max(t, j) + 1;
        a[t][j] = static_cast<double>(products[k * frames + l]);
      }
    }
    __syncthreads();
    for (int i = t; i < frames * frames; i += kThreads) products[i] = 0;
    solved = solve(a, b, n, arguments.epsilon);
    if (t < n) weights[t] = solved ? static_cast<float>(b[t]) : 0.0F;
  } else {
    const int n = (arguments.degree + 1) * (arguments.degree + 2) / 2;
    for (int i = t; i < n * n; i += kThreads) {
      double total = 0;
      for (int k = 1; k < frames; ++k) total += phi[k][i / n] * phi[k][i % n];
      a[i / n][i % n] = total;
    }
    if (t < n) b[t] = phi[0][t];
    __syncthreads();
    solved = textured && solve(a, b, n, arguments.epsilon);
    if (t < arguments.memory) {
      double weight = 0;
      if (solved) {
        for (int i = 0; i < n; ++i) weight += phi[t + 1][i] * b[i];
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
