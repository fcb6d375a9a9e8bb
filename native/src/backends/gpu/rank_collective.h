// What a backend holds of a group of ranks, whoever adds up for them.
#pragma once

#include <functional>
#include <memory>

#include "backends/gpu/device.h"
#include "ops/collective.h"

namespace llmservice::gpu {

class RankCollective : public Collective {
 public:
  // When the device's work has ended: throws if it did because a rank was lost.
  virtual void check() const = 0;
  // Nothing that runs waits for other ranks any more.
  virtual void leave() = 0;
};

// Where launches go, in the order of the backend's ops.
using AddLaunch = std::function<void(const Launch&)>;

// All ranks at once, with the same choice.
std::unique_ptr<RankCollective> connect_ranks(Device& device, RankChannel& channel, Collectives choice,
                                              const AddLaunch& add);

}  // namespace llmservice::gpu
