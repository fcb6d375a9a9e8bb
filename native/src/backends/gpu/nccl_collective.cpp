#include "backends/gpu/nccl_collective.h"

#include "backends/gpu/rank_trial.h"

namespace llmservice::gpu {
namespace {

constexpr const char* kThroughHost = " NCCL_P2P_DISABLE=1 in spec.env makes it go through the host's memory.";

void put_all_reduce(void* stream, NcclCommunicator* nccl, float* x, int64_t count) {
  nccl->run([&](const NcclFunctions& functions, NcclComm* comm) {
    return functions.AllReduce(x, x, count, NcclType::kFloat32, NcclOp::kSum, comm, stream);
  });
}

// Rows by themselves, since their parts lie apart in the whole; rank 0 sends to itself too, as the manual's
// example of gathering does ("Point-to-point communication").
void put_gather(void* stream, NcclCommunicator* nccl, const float* mine, int64_t rows, int64_t vocab,
                float* out) {
  const int32_t size = nccl->size();
  const auto width = [&](int32_t rank) {
    return first_column(vocab, rank + 1, size) - first_column(vocab, rank, size);
  };
  nccl->run([&](const NcclFunctions& functions, NcclComm* comm) {
    NcclResult result = NcclResult::kSuccess;
    const auto note = [&](NcclResult next) {
      if (!NcclCommunicator::failed(result)) result = next;
    };
    for (int64_t row = 0; row < rows; ++row) {
      for (int32_t rank = 0; rank < size && nccl->rank() == 0; ++rank) {
        float* const to = out + row * vocab + first_column(vocab, rank, size);
        note(functions.Recv(to, width(rank), NcclType::kFloat32, rank, comm, stream));
      }
      const int64_t own = width(nccl->rank());
      note(functions.Send(mine + row * own, own, NcclType::kFloat32, 0, comm, stream));
    }
    return result;
  });
}

}  // namespace

NcclCollective::NcclCollective(Device& device, RankChannel& channel, AddLaunch add)
    : channel_(channel), nccl_(device, channel), add_(std::move(add)) {
  try_out(device);
}

void NcclCollective::try_out(Device& device) {
  bool late = false;
  const bool right = adds_up(
      device,
      {.rank = nccl_.rank(),
       .size = nccl_.size(),
       .count = kTrialFloats,
       .patience = channel_.patience(),
       .all_reduce =
           [&](float* x) { return make_call("nccl_all_reduce", put_all_reduce, &nccl_, x, kTrialFloats); },
       .give_up =
           [&] {
             late = true;
             nccl_.abort();
           },
       .check =
           [&] {
             nccl_.check();
             if (!late) return;
             throw NoNccl(name() + " added nothing up within " + std::to_string(channel_.patience().count()) +
                          " ms." + kThroughHost);
           }});
  if (!right) {
    throw NoNccl(name() + " adds up wrongly: what devices write to each other does not arrive." +
                 kThroughHost);
  }
}

void NcclCollective::all_reduce(float* x, int64_t count) {
  add_(make_call("nccl_all_reduce", put_all_reduce, &nccl_, x, count));
}

void NcclCollective::gather_logits(const float* mine, int64_t rows, int64_t vocab, float* out) {
  add_(make_call("nccl_gather", put_gather, &nccl_, mine, rows, vocab, out));
}

// Where the group has ended in peace, nothing runs that waits.
void NcclCollective::leave() {
  if (!channel_.ended()) nccl_.abort();
}

}  // namespace llmservice::gpu
