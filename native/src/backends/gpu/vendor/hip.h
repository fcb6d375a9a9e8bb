// AMD: the vocabulary of vendor.h in HIP's words. Waves of the CDNA chips have 64 lanes, and their e4m3 is
// the FNUZ form (numbers.h).
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>
#include <string>

#include "backends/gpu/launch.h"

#define gpuError_t hipError_t
#define gpuSuccess hipSuccess
#define gpuErrorMemoryAllocation hipErrorOutOfMemory
#define gpuErrorNotReady hipErrorNotReady
#define gpuGetErrorName hipGetErrorName
#define gpuGetErrorString hipGetErrorString
#define gpuGetLastError hipGetLastError
#define gpuGetDeviceCount hipGetDeviceCount
#define gpuSetDevice hipSetDevice
#define gpuDeviceProp_t hipDeviceProp_t
#define gpuGetDeviceProperties hipGetDeviceProperties
#define gpuMemGetInfo hipMemGetInfo
#define gpuMalloc hipMalloc
#define gpuFree hipFree
#ifndef hipDeviceMallocUncached  // headers before ROCm 6 do not name it
#define hipDeviceMallocUncached 0x3
#endif
// Caches of other devices must not keep it.
#define gpuMallocForRanks(memory, bytes) hipExtMallocWithFlags(memory, bytes, hipDeviceMallocUncached)
#define gpuFreeForRanks hipFree
// The device sees what the host writes there while a kernel runs.
#define gpuMallocHostForDevice(memory, bytes) \
  hipHostMalloc(memory, bytes, hipHostMallocMapped | hipHostMallocCoherent)
#define gpuMallocHost hipHostMalloc
#define gpuFreeHost hipHostFree
#define gpuMemcpyAsync hipMemcpyAsync
#define gpuMemcpyHostToDevice hipMemcpyHostToDevice
#define gpuMemcpyDeviceToHost hipMemcpyDeviceToHost
#define gpuMemcpyDeviceToDevice hipMemcpyDeviceToDevice
#define gpuMemsetAsync hipMemsetAsync
#define gpuStream_t hipStream_t
#define gpuStreamNonBlocking hipStreamNonBlocking
#define gpuStreamCreateWithFlags hipStreamCreateWithFlags
#define gpuStreamDestroy hipStreamDestroy
#define gpuStreamSynchronize hipStreamSynchronize
#define gpuStreamQuery hipStreamQuery
#define gpuStreamCaptureModeThreadLocal hipStreamCaptureModeThreadLocal
#define gpuStreamBeginCapture hipStreamBeginCapture
#define gpuStreamEndCapture hipStreamEndCapture
#define gpuEvent_t hipEvent_t
#define gpuEventCreate hipEventCreate
#define gpuEventDestroy hipEventDestroy
#define gpuEventRecord hipEventRecord
#define gpuEventSynchronize hipEventSynchronize
#define gpuEventElapsedTime hipEventElapsedTime
#define gpuGraph_t hipGraph_t
#define gpuGraphExec_t hipGraphExec_t
#define gpuGraphInstantiate(exec, graph) hipGraphInstantiate(exec, graph, nullptr, nullptr, 0)
// Runtimes from 5.3 on have one, which does nothing.
#define gpuGraphUpload(exec, stream) hipSuccess
#define gpuGraphLaunch hipGraphLaunch
#define gpuGraphDestroy hipGraphDestroy
#define gpuGraphExecDestroy hipGraphExecDestroy
#define gpuFuncAttributeMaxDynamicSharedMemorySize hipFuncAttributeMaxDynamicSharedMemorySize
#define gpuFuncSetAttribute hipFuncSetAttribute
#define gpuIpcMemHandle_t hipIpcMemHandle_t
#define gpuIpcGetMemHandle hipIpcGetMemHandle
#define gpuIpcOpenMemHandle hipIpcOpenMemHandle
#define gpuIpcCloseMemHandle hipIpcCloseMemHandle
// Not hipIpcMemLazyEnablePeerAccess: that is 0 in headers before ROCm 6, and runtimes since then refuse all
// but 1.
#define gpuIpcMemLazyEnablePeerAccess 1u
#define gpuDeviceCanAccessPeer hipDeviceCanAccessPeer

namespace llmservice::gpu {

constexpr const char* kVendor = "hip";
constexpr int kWarpSize = 64;
// Where to look when devices cannot use each other's memory.
constexpr const char* kPeerAdvice =
    "`rocm-smi --showtopoaccess` shows which devices reach each other. With HSA_ENABLE_IPC_MODE_LEGACY=0 "
    "ROCm shares memory by dma-bufs, which plain kernels have; with 1 by calls that only AMD's own driver "
    "(amdgpu-dkms) has; its default differs among versions. All ranks must run in one container";

// AMD's library of collectives, whose functions are NCCL's by name.
constexpr const char* kNccl = "RCCL";
constexpr const char* kNcclFile = "librccl.so.1";
constexpr const char* kNcclPackage =
    "ROCm's package rccl has it; the image does, where it was built with RCCL=rccl";

// Without what follows the processor, as in gfx942:sramecc+:xnack-.
inline std::string architecture_of(const gpuDeviceProp_t& properties) {
  const std::string name = properties.gcnArchName;
  return name.substr(0, name.find(':'));
}

inline gpuError_t enqueue(const Launch& launch, gpuStream_t stream) {
  void* arguments[Launch::kArguments];
  for (uint32_t i = 0; i < launch.count; ++i) {
    arguments[i] = const_cast<std::byte*>(launch.bytes.data() + launch.offset[i]);
  }
  return hipLaunchKernel(launch.kernel, {launch.grid.x, launch.grid.y, launch.grid.z}, {launch.threads, 1, 1},
                         arguments, launch.shared_bytes, stream);
}

#ifdef __HIPCC__

__device__ __forceinline__ int lane_id() { return static_cast<int>(threadIdx.x & 63); }
// The same in all lanes, which the compiler cannot know: so that what follows from it lies in scalar
// registers.
__device__ __forceinline__ int warp_id() {
  return __builtin_amdgcn_readfirstlane(static_cast<int>(threadIdx.x >> 6));
}
__device__ __forceinline__ void sync_block() { __syncthreads(); }
// Lanes of a wave run in step; the fence keeps the compiler from moving shared memory accesses over it.
__device__ __forceinline__ void sync_warp() {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}

template <class T>
__device__ __forceinline__ T shuffle(T value, int lane) {
  return __shfl(value, lane, 64);
}
template <class T>
__device__ __forceinline__ T shuffle_xor(T value, int mask) {
  return __shfl_xor(value, mask, 64);
}
__device__ __forceinline__ uint64_t ballot(bool predicate) { return __ballot(predicate); }

__device__ __forceinline__ int first_lane(uint64_t lanes) {
  return __ffsll(static_cast<unsigned long long>(lanes)) - 1;
}

__device__ __forceinline__ int count_lanes(uint64_t lanes) { return __popcll(lanes); }

template <class T>
__device__ __forceinline__ T unfused_mul(T a, T b) {
#pragma clang fp contract(off)
  return a * b;
}
template <class T>
__device__ __forceinline__ T unfused_add(T a, T b) {
#pragma clang fp contract(off)
  return a + b;
}

__device__ __forceinline__ float reciprocal(float x) { return __builtin_amdgcn_rcpf(x); }

__device__ __forceinline__ uint32_t add_to(uint32_t* counter, uint32_t value) {
  return atomicAdd(counter, value);
}
__device__ __forceinline__ uint64_t add_to(uint64_t* counter, uint64_t value) {
  return atomicAdd(reinterpret_cast<unsigned long long*>(counter), value);
}

template <class T>
__device__ __forceinline__ T* dynamic_shared() {
  extern __shared__ __attribute__((aligned(128))) unsigned char dynamic_shared_memory[];
  return reinterpret_cast<T*>(dynamic_shared_memory);
}

__device__ __forceinline__ void publish_block() { __threadfence(); }
__device__ __forceinline__ int32_t count_up(int32_t* counter) { return atomicAdd(counter, 1); }

__device__ __forceinline__ void publish_to_ranks() { __threadfence_system(); }
__device__ __forceinline__ void signal(uint32_t* flag, uint32_t value) {
  __hip_atomic_store(flag, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}
__device__ __forceinline__ uint32_t look(const uint32_t* flag) {
  return __hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
}
__device__ __forceinline__ void pause() { __builtin_amdgcn_s_sleep(1); }

__device__ __forceinline__ void wait_for_previous() {}
__device__ __forceinline__ void let_next_start() {}

#endif  // __HIPCC__

}  // namespace llmservice::gpu
