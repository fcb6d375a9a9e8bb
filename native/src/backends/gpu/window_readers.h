// Several readers of one window: rows are read in as many runs at once, each by a thread of its own that ends
// with the window, since one reader leaves a disk idle while it copies. No memory but the window's.
#pragma once

#include <cstdint>
#include <functional>

namespace llmservice::gpu {

constexpr int kWindowReaders = 4;

// read(reader, first, rows) for runs that together are `rows` rows of `row_bytes`, each of a MiB at least.
// One run, on the calling thread, unless they may be read in any order (MatrixPart::any_order). Returns when
// all have ended; of what they throw, throws that of the first rows. Where no thread can be had, the caller
// reads.
void read_in_pieces(int64_t rows, int64_t row_bytes, bool any_order,
                    const std::function<void(int reader, int64_t first, int64_t rows)>& read);

}  // namespace llmservice::gpu
