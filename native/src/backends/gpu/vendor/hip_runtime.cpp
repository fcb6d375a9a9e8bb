// The HIP runtime by name, looked for when the library loads: its soname changes with ROCm's major version,
// and what is compiled here must run there. Each function below is one jump into the runtime; without a
// runtime every call answers hipErrorNoDevice, as the CUDA runtime does without a driver. A name that is
// missing here fails the link. By plain name, runtimes since ROCm 6 still give hipGetDeviceProperties the
// layout that the headers of ROCm 5 declare.

#include <dlfcn.h>

#include <initializer_list>

#if !defined(__x86_64__)
#error "ROCm runs on x86-64 hosts"
#endif

#define HIP_FUNCTIONS(FUNCTION)        \
  FUNCTION(__hipPopCallConfiguration)  \
  FUNCTION(__hipPushCallConfiguration) \
  FUNCTION(__hipRegisterFatBinary)     \
  FUNCTION(__hipRegisterFunction)      \
  FUNCTION(__hipRegisterVar)           \
  FUNCTION(__hipUnregisterFatBinary)   \
  FUNCTION(hipDeviceCanAccessPeer)     \
  FUNCTION(hipEventCreate)             \
  FUNCTION(hipEventDestroy)            \
  FUNCTION(hipEventElapsedTime)        \
  FUNCTION(hipEventRecord)             \
  FUNCTION(hipEventSynchronize)        \
  FUNCTION(hipExtMallocWithFlags)      \
  FUNCTION(hipFree)                    \
  FUNCTION(hipFuncSetAttribute)        \
  FUNCTION(hipGetDeviceCount)          \
  FUNCTION(hipGetDeviceProperties)     \
  FUNCTION(hipGetErrorName)            \
  FUNCTION(hipGetErrorString)          \
  FUNCTION(hipGetLastError)            \
  FUNCTION(hipGraphDestroy)            \
  FUNCTION(hipGraphExecDestroy)        \
  FUNCTION(hipGraphInstantiate)        \
  FUNCTION(hipGraphLaunch)             \
  FUNCTION(hipHostFree)                \
  FUNCTION(hipHostMalloc)              \
  FUNCTION(hipIpcCloseMemHandle)       \
  FUNCTION(hipIpcGetMemHandle)         \
  FUNCTION(hipIpcOpenMemHandle)        \
  FUNCTION(hipLaunchKernel)            \
  FUNCTION(hipMalloc)                  \
  FUNCTION(hipMemGetInfo)              \
  FUNCTION(hipMemcpyAsync)             \
  FUNCTION(hipMemsetAsync)             \
  FUNCTION(hipSetDevice)               \
  FUNCTION(hipStreamBeginCapture)      \
  FUNCTION(hipStreamCreateWithFlags)   \
  FUNCTION(hipStreamDestroy)           \
  FUNCTION(hipStreamEndCapture)        \
  FUNCTION(hipStreamQuery)             \
  FUNCTION(hipStreamSynchronize)

// The function NAME: a jump through slot_NAME.
#define DEFINE_FUNCTION(NAME)                                                          \
  extern "C" {                                                                         \
  __attribute__((visibility("hidden"))) void* slot_##NAME;                             \
  }                                                                                    \
  asm(".text\n.globl " #NAME "\n.hidden " #NAME "\n.type " #NAME ", @function\n" #NAME \
      ":\n  endbr64\n  jmp *slot_" #NAME "(%rip)\n.size " #NAME ", .-" #NAME "\n");
HIP_FUNCTIONS(DEFINE_FUNCTION)

namespace {

long no_device() { return 100; }  // hipErrorNoDevice
const char* no_runtime() { return "there is no ROCm runtime (libamdhip64.so.7, .6 or .5)"; }

void* open_runtime() {
  for (const char* name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"})
    if (void* runtime = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return runtime;
  return nullptr;
}

// Before the constructors that clang makes, which register the kernels.
__attribute__((constructor(101))) void bind() {
  void* runtime = open_runtime();
  const auto find = [runtime](const char* name) {
    void* found = runtime == nullptr ? nullptr : dlsym(runtime, name);
    return found == nullptr ? reinterpret_cast<void*>(&no_device) : found;
  };
#define BIND_FUNCTION(NAME) slot_##NAME = find(#NAME);
  HIP_FUNCTIONS(BIND_FUNCTION)
  if (runtime == nullptr)
    slot_hipGetErrorName = slot_hipGetErrorString = reinterpret_cast<void*>(&no_runtime);
}

}  // namespace
