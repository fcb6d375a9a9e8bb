// The vocabulary that kernels and the device layer are written in. A vendor's header gives it meaning;
// nothing outside this folder names a vendor. Besides the runtime's functions as gpuXxx, and __global__,
// __device__ and __shared__, kernels may use:
//
//   kWarpSize                      32 or 64 lanes that run together; blocks are one-dimensional
//   lane_id(), warp_id()           of the calling thread in its warp, of its warp in the block
//   sync_block(), sync_warp()      barriers, which also make shared memory written before them visible
//   shuffle(value, lane)           another lane's value; all lanes of the warp take part
//   shuffle_xor(value, mask)
//   ballot(predicate)              one bit for each lane of the warp
//   first_lane(ballot)             the lowest lane of a ballot that is not empty
//   count_lanes(ballot)            how many lanes it names
//   unfused_mul(a, b)              rounded by itself: never part of a fused multiply-add
//   unfused_add(a, b)
//   add_to(counter, value)         adds to an unsigned integer in shared or device memory as one step for all
//                                  threads, and returns what it was
//   dynamic_shared<T>()            the launch's shared_bytes, on 128 bytes
//   publish_block()                before one thread notifies other blocks that this block's results are
//   written count_up(counter)              adds one for all blocks to see, and returns what it was
//   publish_to_ranks()             the same for other devices and the host
//   signal(flag, value)            a number that other devices see, after all that was published before
//   look(flag)                     what it is now; what was published before it was set can be read after
//   pause()                        in loops that look
//   wait_for_previous()            until the launch before has ended; nothing it writes is read before this
//   let_next_start()               the next launch may begin what it does before wait_for_previous(). A
//   kernel
//                                  calls it before its own wait, so that launches follow each other closely,
//                                  but where the next may read there what a launch before this one wrote, as
//                                  gdn_recurrent reads S: there after its own wait.
#pragma once

#if defined(LLMSERVICE_GPU_CUDA)
#include "backends/gpu/vendor/cuda.h"
#elif defined(LLMSERVICE_GPU_HIP)
#include "backends/gpu/vendor/hip.h"
#elif defined(LLMSERVICE_GPU_HOST)
#include "backends/gpu/vendor/host.h"
#else
#error "Define LLMSERVICE_GPU_CUDA, LLMSERVICE_GPU_HIP or LLMSERVICE_GPU_HOST."
#endif
