#include "backends/gpu/device.h"

#include <algorithm>

#include "ops/error.h"

namespace llmservice::gpu {
namespace {

// Above this a kernel must opt in to so much.
constexpr uint32_t kPlainShared = 48 << 10;

// Of the driver for a process, at most, as checkpoint/src/memory/memory-parts.ts reserves it: what others
// have beyond it may go away.
constexpr size_t kContextBytes = 512 << 20;

// Which is no fault of the device, and is not to be met again as the last error.
bool is_out_of_memory(gpuError_t error) {
  if (error != gpuErrorMemoryAllocation) return false;
  static_cast<void>(gpuGetLastError());
  return true;
}

void check(gpuError_t error, const char* what) {
  if (error == gpuSuccess) return;
  if (is_out_of_memory(error)) {
    // Of local memory: allocate() reports by itself what it wanted.
    throw EngineError(FailureReason::kDeviceOutOfMemory,
                      std::string("The device has no memory left to ") + what + ".");
  }
  throw EngineError(FailureReason::kDeviceFault,
                    std::string("The device failed to ") + what + ": " + error_text(error) + ".");
}

std::string mebibytes(size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

}  // namespace

std::string error_text(gpuError_t error) {
  return std::string(gpuGetErrorString(error)) + " (" + gpuGetErrorName(error) + ")";
}

Graph::~Graph() {
  if (exec_ != nullptr) static_cast<void>(gpuGraphExecDestroy(exec_));
}

Device::Device(int index) : index_(index) {
  check(gpuSetDevice(index), "be chosen");
  gpuDeviceProp_t properties;
  check(gpuGetDeviceProperties(&properties, index), "describe itself");
  name_ = properties.name;
  architecture_ = architecture_of(properties);
  multiprocessors_ = properties.multiProcessorCount;
  compute_capability_ = 10 * properties.major + properties.minor;
  check(gpuStreamCreateWithFlags(&stream_, gpuStreamNonBlocking), "make a stream");
}

Device::~Device() { static_cast<void>(gpuStreamDestroy(stream_)); }

void* Device::allocate(size_t bytes) {
  void* memory = nullptr;
  return taken(gpuMalloc(&memory, std::max<size_t>(bytes, 1)), memory, bytes);
}

void* Device::allocate_for_ranks(size_t bytes) {
  void* memory = nullptr;
  return taken(gpuMallocForRanks(&memory, bytes), memory, bytes);
}

void* Device::taken(gpuError_t error, void*& memory, size_t bytes) {
  if (is_out_of_memory(error)) {
    const auto [free, total] = this->memory();
    const size_t others = total - std::min(total, free + held_);
    const size_t foreign = others - std::min(others, kContextBytes);
    throw EngineError(
        free + foreign >= bytes ? FailureReason::kDeviceMemoryTaken : FailureReason::kModelTooLarge,
        name_ + " has " + mebibytes(free) + " of its " + mebibytes(total) + " free, and " + mebibytes(bytes) +
            " more are needed for weights, caches and workspace. " + mebibytes(held_) +
            " are taken by those so far, " + mebibytes(others) + " by other processes and the driver.",
        {{"totalBytes", total}, {"freeBytes", free}, {"ownBytes", held_}, {"otherBytes", others}});
  }
  check(error, "allocate memory");
  held_ += bytes;
  sizes_[memory] = bytes;
  return memory;
}

MemoryInfo Device::memory() const {
  MemoryInfo info{};
  check(gpuMemGetInfo(&info.free, &info.total), "report its memory");
  return info;
}

void Device::gone(const void* memory) {
  const auto size = sizes_.find(memory);
  if (size == sizes_.end()) return;
  held_ -= size->second;
  sizes_.erase(size);
}

void Device::release(void* memory) {
  gone(memory);
  static_cast<void>(gpuFree(memory));
}

void Device::release_for_ranks(void* memory) {
  gone(memory);
  static_cast<void>(gpuFreeForRanks(memory));
}

void* Device::allocate_pinned(size_t bytes) {
  void* memory = nullptr;
  const gpuError_t error = gpuMallocHost(&memory, std::max<size_t>(bytes, 1));
  if (is_out_of_memory(error)) {
    throw EngineError(
        FailureReason::kModelTooLarge,
        "The host has not the " + mebibytes(bytes) + " of pinned memory that copies to " + name_ + " need.");
  }
  check(error, "pin memory of the host");
  return memory;
}

void Device::release_pinned(void* memory) { static_cast<void>(gpuFreeHost(memory)); }

void Device::upload(std::span<const std::byte> host, void* device) {
  send(host, device);
  finish();
}

void Device::download(const void* device, std::span<std::byte> host) {
  fetch(device, host);
  finish();
}

void Device::send(std::span<const std::byte> pinned, void* device) {
  check(gpuMemcpyAsync(device, pinned.data(), pinned.size(), gpuMemcpyHostToDevice, stream_), "take data");
}

void Device::fetch(const void* device, std::span<std::byte> pinned) {
  check(gpuMemcpyAsync(pinned.data(), device, pinned.size(), gpuMemcpyDeviceToHost, stream_), "give data");
}

void Device::zero(void* device, size_t bytes) {
  check(gpuMemsetAsync(device, 0, bytes, stream_), "clear memory");
}

void Device::give_shared_memory(const Launch& launch) {
  if (launch.shared_bytes <= kPlainShared) return;
  uint32_t& given = shared_given_[launch.kernel];
  if (launch.shared_bytes <= given) return;
  check(gpuFuncSetAttribute(launch.kernel, gpuFuncAttributeMaxDynamicSharedMemorySize,
                            static_cast<int>(launch.shared_bytes)),
        "give a kernel its shared memory");
  given = launch.shared_bytes;
}

void Device::run(const Launch& launch) {
  if (launch.put_on != nullptr) return launch.put_on(stream_, launch);
  give_shared_memory(launch);
  check(enqueue(launch, stream_), (std::string("run ") + launch.name).c_str());
}

bool Device::run(const Graph& graph) {
  const gpuError_t error = gpuGraphLaunch(graph.exec(), stream_);
  if (is_out_of_memory(error)) return false;
  check(error, "run a graph");
  return true;
}

std::optional<Graph> Device::capture(std::span<const Launch> launches) {
  for (const Launch& launch : launches) give_shared_memory(launch);
  check(gpuStreamBeginCapture(stream_, gpuStreamCaptureModeThreadLocal), "begin a graph");
  gpuError_t error = gpuSuccess;
  for (const Launch& launch : launches) {
    if (error == gpuSuccess) error = enqueue(launch, stream_);
  }
  gpuGraph_t graph = nullptr;
  const gpuError_t ended = gpuStreamEndCapture(stream_, &graph);
  check(error, "take a launch into a graph");
  check(ended, "end a graph");
  gpuGraphExec_t exec = nullptr;
  error = gpuGraphInstantiate(&exec, graph);
  static_cast<void>(gpuGraphDestroy(graph));
  Graph made(exec);
  // Whatever its first run would take, it takes now.
  if (error == gpuSuccess) error = gpuGraphUpload(exec, stream_);
  if (is_out_of_memory(error)) return std::nullopt;
  check(error, "make a graph");
  return made;
}

void Device::finish() { check(gpuStreamSynchronize(stream_), "finish its work"); }

Milestone::Milestone(Device& device) : device_(device) { check(gpuEventCreate(&event_), "make an event"); }

Milestone::~Milestone() { static_cast<void>(gpuEventDestroy(event_)); }

void Milestone::set() { check(gpuEventRecord(event_, device_.stream()), "record an event"); }

void Milestone::wait() { check(gpuEventSynchronize(event_), "finish a part of its work"); }

}  // namespace llmservice::gpu
