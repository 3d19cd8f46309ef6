#pragma once

// The rules of the codec are written once and run on the host and on the device.
#if defined(__CUDACC__)
#define C63_HD __host__ __device__
#else
#define C63_HD
#endif
