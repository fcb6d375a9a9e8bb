#include "backends/gpu/rank_collective.h"

#include "backends/gpu/collective.h"
#include "backends/gpu/nccl_collective.h"

namespace llmservice::gpu {
namespace {

// Each rank finds the same, or none continues.
std::unique_ptr<RankCollective> own_or_library(Device& device, RankChannel& channel, const AddLaunch& add) {
  std::string apart;
  try {
    return std::make_unique<DeviceCollective>(device, channel, add);
  } catch (const NoPeerAccess& error) {
    apart = error.what();
  }
  try {
    return std::make_unique<NcclCollective>(device, channel, add);
  } catch (const NoNccl& error) {
    throw EngineError(FailureReason::kDeviceUnavailable,
                      apart + " Nor can " + kNccl + " stand in: " + error.what());
  }
}

}  // namespace

std::unique_ptr<RankCollective> connect_ranks(Device& device, RankChannel& channel, Collectives choice,
                                              const AddLaunch& add) {
  switch (choice) {
    case Collectives::kOwn:
      return std::make_unique<DeviceCollective>(device, channel, add);
    case Collectives::kLibrary:
      return std::make_unique<NcclCollective>(device, channel, add);
    case Collectives::kAuto:
      break;
  }
  return own_or_library(device, channel, add);
}

}  // namespace llmservice::gpu
