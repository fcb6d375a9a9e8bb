// NCCL, or RCCL, which has the same functions: opened where ranks ask for it, and no part of any build. What
// is declared here is all that is called, as NVIDIA's and AMD's documentation of the interface has it
// ("NCCL API", "RCCL API"); numbers are those of nccl.h since 2.14.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ops/error.h"

namespace llmservice::gpu {

struct NcclComm;  // one rank's end of a group

enum class NcclResult : int { kSuccess = 0, kInProgress = 7 };
enum class NcclType : int { kFloat32 = 7 };
enum class NcclOp : int { kSum = 0 };

// Made by one rank for all.
struct NcclId {
  char bytes[128];
};

// The first fields of ncclConfig_t, those of 2.14: a library takes what comes after them as not set.
struct NcclConfig {
  size_t bytes = sizeof(NcclConfig);
  uint32_t magic = 0xcafebeef;
  uint32_t version = 21400;
  int blocking = 0;  // calls that would wait for other ranks return kInProgress
};

// By the names of the library, without `nccl`. Streams are the vendor's.
struct NcclFunctions {
  NcclResult (*GetVersion)(int* version);
  NcclResult (*GetUniqueId)(NcclId* id);
  NcclResult (*CommInitRankConfig)(NcclComm** comm, int ranks, NcclId id, int rank, NcclConfig* config);
  NcclResult (*AllReduce)(const void* from, void* to, size_t count, NcclType, NcclOp, NcclComm*,
                          void* stream);
  NcclResult (*Send)(const void* from, size_t count, NcclType, int peer, NcclComm*, void* stream);
  NcclResult (*Recv)(void* to, size_t count, NcclType, int peer, NcclComm*, void* stream);
  NcclResult (*GroupStart)();
  NcclResult (*GroupEnd)();
  NcclResult (*CommGetAsyncError)(NcclComm*, NcclResult* result);
  NcclResult (*CommFinalize)(NcclComm*);
  NcclResult (*CommDestroy)(NcclComm*);
  NcclResult (*CommAbort)(NcclComm*);
  const char* (*GetErrorString)(NcclResult);
  const char* (*GetLastError)(NcclComm*);  // of any communicator
};

struct NcclLibrary {
  NcclFunctions functions{};
  std::string name;     // NCCL 2.27.7, for example
  std::string problem;  // why it cannot be used, and what to do; empty when it can
};

// Opens the file that LLMSERVICE_NCCL_LIBRARY names, else the vendor's by its plain name. It stays open.
NcclLibrary open_nccl();

// There is no library to use, or it does not connect these devices.
class NoNccl final : public EngineError {
 public:
  explicit NoNccl(const std::string& message) : EngineError(FailureReason::kDeviceUnavailable, message) {}
};

}  // namespace llmservice::gpu
