// Sums over ranks by NCCL or RCCL, as calls among the backend's launches. The library chooses ways and orders
// by what it finds of links: the last bits of sums may differ from run to run.
#pragma once

#include "backends/gpu/nccl_communicator.h"
#include "backends/gpu/rank_collective.h"

namespace llmservice::gpu {

class NcclCollective final : public RankCollective {
 public:
  // Throws NoNccl, also where what the library adds up is wrong, or the error of the group.
  NcclCollective(Device& device, RankChannel& channel, AddLaunch add);

  std::string name() const override { return nccl_.name(); }
  void all_reduce(float* x, int64_t count) override;
  void gather_logits(const float* mine, int64_t rows, int64_t vocab, float* out) override;
  void check() const override { nccl_.check(); }
  void leave() override;

 private:
  void try_out(Device& device);

  RankChannel& channel_;
  NcclCommunicator nccl_;
  AddLaunch add_;
};

}  // namespace llmservice::gpu
