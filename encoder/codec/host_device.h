#pragma once

// Marks functions that are compiled for the host and for CUDA devices, so that the codec's rules are written only once.
#if defined(__CUDACC__)
#define C63_HD __host__ __device__
#else
#define C63_HD
#endif
