#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "c63/cuda/filters.h"

// The functions that launch the kernels of frame shift and whitening. They are defined in the shift_*.cu and
// whitening_*.cu files of this folder.

namespace c63::cuda::kernels {

inline constexpr int kListedFrames = kMaxMemory + 1;  ///< a frame and its history

/// Pictures of one size, as a kernel argument.
template <typename Sample>
struct FrameList {
  int count = 0;
  /// True if every row starts at an address that is a multiple of eight samples, or of 16 bytes if that is less.
  bool aligned = true;
  const Sample* data[kListedFrames];
  std::ptrdiff_t pitch[kListedFrames];
};

template <typename Sample>
[[nodiscard]] FrameList<Sample> list_of(std::span<const BasicPlaneView<const Sample>> frames);

/// The type of sums over samples. Sums of bytes are integers, so they are exact.
template <typename Sample>
using Sum = std::conditional_t<std::is_same_v<Sample, float>, double, std::int64_t>;

/// The number of sums of a frame, in the order of ShiftSums. On the device, u, v and w are stored times 4, and p and q
/// times 10, so that sums of bytes are integers.
inline constexpr int kShiftSums = 5;

/// Computes the five sums of one frame relative to a reference. If `blocks` is not null, each thread block stores its
/// own sums there. Otherwise all thread blocks add to `sums` by atomics.
template <typename Sample>
void shift_step(CUstream_st* stream, BasicPlaneView<const Sample> reference, BasicPlaneView<const Sample> frame,
                Sum<Sample>* sums, Sum<Sample>* blocks);
/// The number of thread blocks of shift_step(). Each has five entries in `blocks`.
[[nodiscard]] std::size_t shift_step_blocks(int width, int height);

template <typename Sample>
using Derived = std::conditional_t<std::is_same_v<Sample, float>, float, std::int16_t>;

/// The derivatives 2g and 2h of a reference, and its means 5m, in device memory (see ShiftSums). `pitch` is in values,
/// a multiple of 8. On the border, all are zero.
template <typename Sample>
struct DerivedView {
  Derived<Sample>* g = nullptr;
  Derived<Sample>* h = nullptr;
  Derived<Sample>* m = nullptr;
  int width = 0;
  int height = 0;
  int pitch = 0;
};

/// Fills `derived` and adds 4u, 4v and 4w (see ShiftSums) to texture[0..2], which must be zero before.
template <typename Sample>
void derive(CUstream_st* stream, BasicPlaneView<const Sample> reference, const DerivedView<Sample>& derived,
            Sum<Sample>* texture);

/// Adds 10p and 10q (see ShiftSums) of frame k to sums[2k] and sums[2k + 1].
template <typename Sample>
void shift_all(CUstream_st* stream, const DerivedView<Sample>& derived, const FrameList<Sample>& frames,
               Sum<Sample>* sums);

/// What the device reports about a whitening; 1 means true.
struct WhiteningStatus {
  int textureless = 0;
  int singular = 0;
  int textured_shift = 0;  ///< 1 if `shift` is set
  FrameShift shift;        ///< the shift of the frame
};

/// Computes the weights of frames 1, 2, … of a list: from the sums of shift_all(), or from the `products` of
/// correlate_all(), depending on the method. Also computes the shift of frame 0 from the sums. Sets sums and used
/// products back to zero. If the equations have no solution, the weights are zero, and `status` says so until the
/// caller clears it.
template <typename Sample>
void solve_weights(CUstream_st* stream, const WhiteningSettings& settings, const Sum<Sample>* texture,
                   Sum<Sample>* sums, Sum<Sample>* products, float* weights, WhiteningStatus* status);

/// Adds Σ x_k·x_l, over all samples, to products[k·count + l] for all frames k ≤ l of the list.
template <typename Sample>
void correlate_all(CUstream_st* stream, const FrameList<Sample>& frames, int width, int height, Sum<Sample>* products);

/// Does the same as c63::reject_outliers(). The samples of picture k start at out[k · width · height], with a pitch of
/// `width`.
template <typename Sample>
void reject_all(CUstream_st* stream, const FrameList<Sample>& history, int width, int height, float threshold,
                Sample* out);

/// Computes out = frame 0 − Σ weights[k − 1] · frame k.
template <typename Sample>
void subtract_all(CUstream_st* stream, const FrameList<Sample>& frames, const float* weights,
                  BasicPlaneView<float> out);

}  // namespace c63::cuda::kernels
