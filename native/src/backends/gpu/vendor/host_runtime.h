// The runtime's functions where there is no device: device memory is host memory, and streams run at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/gpu/launch.h"

namespace llmservice::gpu {

enum gpuError_t {
  gpuSuccess,
  gpuErrorMemoryAllocation,
  gpuErrorInvalidValue,
  gpuErrorNotReady,
  gpuErrorLaunchFailure
};
enum gpuMemcpyKind { gpuMemcpyHostToDevice, gpuMemcpyDeviceToHost, gpuMemcpyDeviceToDevice };
enum gpuStreamCaptureMode { gpuStreamCaptureModeThreadLocal };
enum gpuFuncAttribute { gpuFuncAttributeMaxDynamicSharedMemorySize };
constexpr unsigned gpuStreamNonBlocking = 0;
constexpr unsigned gpuIpcMemLazyEnablePeerAccess = 1;

struct HostGraph;
struct HostStream;
struct HostEvent;
using gpuGraph_t = HostGraph*;
using gpuGraphExec_t = HostGraph*;
using gpuStream_t = HostStream*;
using gpuEvent_t = HostEvent*;

// A file without a name that the process `pid` holds open.
struct gpuIpcMemHandle_t {
  int pid;
  int descriptor;
  size_t bytes;
};

struct gpuDeviceProp_t {
  char name[64];
  size_t totalGlobalMem;
  size_t sharedMemPerBlockOptin;
  int multiProcessorCount;
  int warpSize;
  int major;
  int minor;
  int pciDomainID;
  int pciBusID;
  int pciDeviceID;
};

const char* gpuGetErrorName(gpuError_t error);
const char* gpuGetErrorString(gpuError_t error);
gpuError_t gpuGetLastError();
gpuError_t gpuGetDeviceCount(int* count);
gpuError_t gpuSetDevice(int device);
gpuError_t gpuGetDeviceProperties(gpuDeviceProp_t* properties, int device);
gpuError_t gpuMemGetInfo(size_t* free, size_t* total);
gpuError_t gpuMalloc(void** memory, size_t bytes);
gpuError_t gpuFree(void* memory);
gpuError_t gpuMallocForRanks(void** memory, size_t bytes);
gpuError_t gpuFreeForRanks(void* memory);
gpuError_t gpuMallocHostForDevice(void** memory, size_t bytes);
gpuError_t gpuIpcGetMemHandle(gpuIpcMemHandle_t* handle, void* memory);
// Also in the process that gave the handle, where vendors refuse it.
gpuError_t gpuIpcOpenMemHandle(void** memory, gpuIpcMemHandle_t handle, unsigned flags);
gpuError_t gpuIpcCloseMemHandle(void* memory);
gpuError_t gpuDeviceCanAccessPeer(int* can, int device, int peer);
gpuError_t gpuMallocHost(void** memory, size_t bytes);
gpuError_t gpuFreeHost(void* memory);
gpuError_t gpuMemcpyAsync(void* to, const void* from, size_t bytes, gpuMemcpyKind kind, gpuStream_t stream);
gpuError_t gpuMemsetAsync(void* memory, int value, size_t bytes, gpuStream_t stream);
gpuError_t gpuStreamCreateWithFlags(gpuStream_t* stream, unsigned flags);
gpuError_t gpuStreamDestroy(gpuStream_t stream);
gpuError_t gpuStreamSynchronize(gpuStream_t stream);
gpuError_t gpuStreamQuery(gpuStream_t stream);
gpuError_t gpuEventCreate(gpuEvent_t* event);
gpuError_t gpuEventDestroy(gpuEvent_t event);
gpuError_t gpuEventRecord(gpuEvent_t event, gpuStream_t stream);
gpuError_t gpuEventSynchronize(gpuEvent_t event);
gpuError_t gpuEventElapsedTime(float* milliseconds, gpuEvent_t from, gpuEvent_t to);
gpuError_t gpuStreamBeginCapture(gpuStream_t stream, gpuStreamCaptureMode mode);
gpuError_t gpuStreamEndCapture(gpuStream_t stream, gpuGraph_t* graph);
gpuError_t gpuGraphInstantiate(gpuGraphExec_t* exec, gpuGraph_t graph);
gpuError_t gpuGraphUpload(gpuGraphExec_t exec, gpuStream_t stream);
gpuError_t gpuGraphLaunch(gpuGraphExec_t exec, gpuStream_t stream);
gpuError_t gpuGraphDestroy(gpuGraph_t graph);
gpuError_t gpuGraphExecDestroy(gpuGraphExec_t exec);
gpuError_t gpuFuncSetAttribute(const void* kernel, gpuFuncAttribute attribute, int value);

// What tests choose of the device that is not there, and programs that load it as a library by EMULATED_MAJOR
// and EMULATED_DEVICES of their environment: with a major number of 9 it is a Hopper.
struct EmulatedDevice {
  int devices = 1;
  bool peers = true;  // devices reach each other's memory
  int major = 0;
  int minor = 0;
  size_t memory = size_t{8} << 30;
  size_t taken_by_others = 0;     // of it, by other processes
  size_t graph = 0;               // bytes that a graph takes, when it is uploaded or first runs
  int launches_until_fault = -1;  // none when negative; from the fault on everything fails
};
EmulatedDevice& emulated_device();
// Counts memory of the emulated device. False: there is not so much free.
bool take_emulated(size_t bytes);
void give_back_emulated(size_t bytes);

gpuError_t enqueue(const Launch& launch, gpuStream_t stream);

}  // namespace llmservice::gpu
