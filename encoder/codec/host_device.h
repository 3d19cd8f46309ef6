#pragma once

// The codec's rules are written once, for the host and for the device.
#if defined(__CUDACC__)
#define C63_HD __host__ __device__
#else
#define C63_HD
#endif
