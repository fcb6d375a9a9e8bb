// NVIDIA: the vocabulary of vendor.h in CUDA's words.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "backends/gpu/launch.h"

#define gpuError_t cudaError_t
#define gpuSuccess cudaSuccess
#define gpuErrorMemoryAllocation cudaErrorMemoryAllocation
#define gpuErrorNotReady cudaErrorNotReady
#define gpuGetErrorName cudaGetErrorName
#define gpuGetErrorString cudaGetErrorString
#define gpuGetLastError cudaGetLastError
#define gpuGetDeviceCount cudaGetDeviceCount
#define gpuSetDevice cudaSetDevice
#define gpuDeviceProp_t cudaDeviceProp
#define gpuGetDeviceProperties cudaGetDeviceProperties
#define gpuMemGetInfo cudaMemGetInfo
#define gpuMalloc cudaMalloc
#define gpuFree cudaFree
// Other ranks' devices may have it: the driver shares blocks of 2 MiB whole.
#define gpuMallocForRanks cudaMalloc
#define gpuFreeForRanks cudaFree
// The device sees what the host writes there while a kernel runs.
#define gpuMallocHostForDevice(memory, bytes) cudaHostAlloc(memory, bytes, cudaHostAllocMapped)
#define gpuMallocHost cudaMallocHost
#define gpuFreeHost cudaFreeHost
#define gpuMemcpyAsync cudaMemcpyAsync
#define gpuMemcpyHostToDevice cudaMemcpyHostToDevice
#define gpuMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define gpuMemcpyDeviceToDevice cudaMemcpyDeviceToDevice
#define gpuMemsetAsync cudaMemsetAsync
#define gpuStream_t cudaStream_t
#define gpuStreamNonBlocking cudaStreamNonBlocking
#define gpuStreamCreateWithFlags cudaStreamCreateWithFlags
#define gpuStreamDestroy cudaStreamDestroy
#define gpuStreamSynchronize cudaStreamSynchronize
#define gpuStreamQuery cudaStreamQuery
#define gpuStreamCaptureModeThreadLocal cudaStreamCaptureModeThreadLocal
#define gpuStreamBeginCapture cudaStreamBeginCapture
#define gpuStreamEndCapture cudaStreamEndCapture
#define gpuEvent_t cudaEvent_t
#define gpuEventCreate cudaEventCreate
#define gpuEventDestroy cudaEventDestroy
#define gpuEventRecord cudaEventRecord
#define gpuEventSynchronize cudaEventSynchronize
#define gpuEventElapsedTime cudaEventElapsedTime
#define gpuGraph_t cudaGraph_t
#define gpuGraphExec_t cudaGraphExec_t
#define gpuGraphInstantiate(exec, graph) cudaGraphInstantiate(exec, graph, 0)
#define gpuGraphUpload cudaGraphUpload
#define gpuGraphLaunch cudaGraphLaunch
#define gpuGraphDestroy cudaGraphDestroy
#define gpuGraphExecDestroy cudaGraphExecDestroy
#define gpuFuncAttributeMaxDynamicSharedMemorySize cudaFuncAttributeMaxDynamicSharedMemorySize
#define gpuFuncSetAttribute cudaFuncSetAttribute
#define gpuIpcMemHandle_t cudaIpcMemHandle_t
#define gpuIpcGetMemHandle cudaIpcGetMemHandle
#define gpuIpcOpenMemHandle cudaIpcOpenMemHandle
#define gpuIpcCloseMemHandle cudaIpcCloseMemHandle
#define gpuIpcMemLazyEnablePeerAccess cudaIpcMemLazyEnablePeerAccess
#define gpuDeviceCanAccessPeer cudaDeviceCanAccessPeer

namespace llmservice::gpu {

constexpr const char* kVendor = "cuda";
constexpr int kWarpSize = 32;
// Where to look when devices cannot use each other's memory.
constexpr const char* kPeerAdvice =
    "`nvidia-smi topo -p2p r` shows which devices reach each other: instances of MIG do not, nor do most "
    "GeForce "
    "cards, nor devices that a virtual machine or PCIe access control (ACS) keeps apart. All ranks must run "
    "in "
    "one container";

// NVIDIA's library of collectives.
constexpr const char* kNccl = "NCCL";
constexpr const char* kNcclFile = "libnccl.so.2";
constexpr const char* kNcclPackage =
    "NVIDIA's package libnccl2, or the wheel nvidia-nccl-cu13, has it; the image does not";

inline std::string architecture_of(const gpuDeviceProp_t& properties) {
  return "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
}

// Kernels may begin while the one before ends: each says itself what it waits for (wait_for_previous).
inline gpuError_t enqueue(const Launch& launch, gpuStream_t stream) {
  void* arguments[Launch::kArguments];
  for (uint32_t i = 0; i < launch.count; ++i) {
    arguments[i] = const_cast<std::byte*>(launch.bytes.data() + launch.offset[i]);
  }
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = {launch.grid.x, launch.grid.y, launch.grid.z};
  config.blockDim = {launch.threads, 1, 1};
  config.dynamicSmemBytes = launch.shared_bytes;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = 1;
  return cudaLaunchKernelExC(&config, launch.kernel, arguments);
}

#ifdef __CUDACC__

__device__ __forceinline__ int lane_id() { return static_cast<int>(threadIdx.x & 31); }
__device__ __forceinline__ int warp_id() { return static_cast<int>(threadIdx.x >> 5); }
__device__ __forceinline__ void sync_block() { __syncthreads(); }
__device__ __forceinline__ void sync_warp() { __syncwarp(); }

template <class T>
__device__ __forceinline__ T shuffle(T value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane);
}
template <class T>
__device__ __forceinline__ T shuffle_xor(T value, int mask) {
  return __shfl_xor_sync(0xffffffffu, value, mask);
}
__device__ __forceinline__ uint64_t ballot(bool predicate) { return __ballot_sync(0xffffffffu, predicate); }

__device__ __forceinline__ int first_lane(uint64_t lanes) {
  return __ffsll(static_cast<long long>(lanes)) - 1;
}
__device__ __forceinline__ int count_lanes(uint64_t lanes) { return __popcll(lanes); }

__device__ __forceinline__ float unfused_mul(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ float unfused_add(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double unfused_mul(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ double unfused_add(double a, double b) { return __dadd_rn(a, b); }

__device__ __forceinline__ float reciprocal(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

__device__ __forceinline__ uint32_t add_to(uint32_t* counter, uint32_t value) {
  return atomicAdd(counter, value);
}
__device__ __forceinline__ uint64_t add_to(uint64_t* counter, uint64_t value) {
  return atomicAdd(reinterpret_cast<unsigned long long*>(counter), value);
}

extern __shared__ __align__(128) unsigned char dynamic_shared_memory[];
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
  return reinterpret_cast<T*>(dynamic_shared_memory);
}

__device__ __forceinline__ void publish_block() { __threadfence(); }
__device__ __forceinline__ int32_t count_up(int32_t* counter) { return atomicAdd(counter, 1); }

__device__ __forceinline__ void publish_to_ranks() { __threadfence_system(); }
__device__ __forceinline__ void signal(uint32_t* flag, uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}
__device__ __forceinline__ uint32_t look(const uint32_t* flag) {
  uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
}
__device__ __forceinline__ void pause() { __nanosleep(20); }

__device__ __forceinline__ void wait_for_previous() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}
__device__ __forceinline__ void let_next_start() {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

#endif  // __CUDACC__

}  // namespace llmservice::gpu
