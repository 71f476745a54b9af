// As much of CUDA's runtime as it takes to read picolib's kernel without CUDA being there.
#pragma once
#include <cmath>
#include <cstddef>

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __forceinline__ inline

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

using cudaStream_t = struct stream*;
enum cudaError { cudaSuccess };

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared = 0, void* stream = nullptr);
cudaError cudaConfigureCall(dim3 grid, dim3 block, std::size_t shared = 0, void* stream = nullptr);

struct Index {
    unsigned x, y, z;
};
extern __device__ const Index threadIdx, blockIdx, blockDim, gridDim;

template <typename T>
__device__ T atomicAdd(T* target, T value);
__device__ double floor(float x);
