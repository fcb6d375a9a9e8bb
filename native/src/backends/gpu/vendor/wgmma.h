// Hopper's matrix products of a warpgroup (four warps, the first a multiple of four) and bulk copies to
// shared memory, for tiles of rows of 128 bytes in the 128-byte swizzle.
//
//   kHasWgmma                      whether the vendor has such devices
//   kRunsWgmma                     whether the code now compiled is for one; elsewhere nothing else is used
//   init_barrier(barrier, n)       n arrivals and all bytes expected make a phase; by one thread
//   publish_barriers()             by it, after all; then sync_block()
//   expect_bytes(barrier, bytes)   arrives, and expects so many bytes more in this phase
//   arrive(barrier)
//   wait_phase(barrier, parity)    until the phase of this parity, 0 at first, is over
//   copy_bulk(shared, global, bytes, barrier)   on 16 bytes, as is `bytes`; counted by the barrier
//   prefetch(global)               brings its line into the cache that all multiprocessors share
//   prefetch_bulk(global, bytes)   the same of so many bytes; both on 16
//   count_in_order(counter)        adds one, and returns what it was. All that the warp wrote before its last
//                                  sync_warp() can be read by whoever counts after it
//   align_tiles(shared)            the next border that a tile may lie on
//   tile_descriptor(shared, byte)  of a tile's rows, from `byte` of each on
//   rows_descriptor(shared, stride)  of 16 rows of N columns of 16 bits each: 64 of them in the tile at
//                                  `shared`, the next 64 `stride` bytes on, and so on
//   publish_to_products()          what the thread stored in shared memory before can be read by products of
//                                  who sees what it does next: an arrival, or sync_block()
//   wgmma<dtype>(d, a, b, keep)    d (64, N) = a (64, 32 bytes) · b (N, 32 bytes)ᵀ, + d where `keep`
//   wgmma_rows(d, a, b)            d (64, N) += a (64, 16) · b (16, N) in bf16, a in registers, b by
//                                  rows_descriptor()
//   begin_wgmma(d), commit_wgmma(), wait_wgmma(d)  before the first, after the last, and until d is there
//   wait_earlier_wgmma(d)          until d is there, which all but the last commit_wgmma() are waited for
//   hold_operand(a)                before begin_wgmma() and behind the wait, until which products read `a`
//   take_registers<n>(), give_registers<n>()       a warpgroup's count for a thread from here on, a multiple
//                                  of eight; what some give others may take. All of its warps call it
//   keep_here(value)               that value; what follows from it is not computed, and held, before, nor is
//                                  memory read before that is read after
//
// d[4 j + c] of a thread: row 16 · (warp % 4) + lane / 4 + 8 · (c / 2), column 8 j + 2 · (lane % 4) + c % 2
// (PTX ISA, "Register fragments for wgmma.mma_async", matrix D). Between begin and wait, d is not touched.
// a of wgmma_rows() lies as eight columns of d that are rounded in pairs: a[i] = d[2 i], d[2 i + 1].
#pragma once

#include "backends/gpu/vendor/vendor.h"

#if defined(LLMSERVICE_GPU_CUDA)
#include "backends/gpu/vendor/wgmma_cuda.h"
#elif defined(LLMSERVICE_GPU_HOST) && LLMSERVICE_WARP_SIZE == 32
#include "backends/gpu/vendor/wgmma_host.h"
#else
#include "backends/gpu/vendor/wgmma_none.h"
#endif
