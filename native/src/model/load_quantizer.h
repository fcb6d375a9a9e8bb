// Quantization while a matrix is read: what is stored in BF16, F16 or F32 becomes FP8 with one scale per
// 128x128 block, or INT8 with one scale per output.
// Scales come from the whole stored tensor's blocks and rows, whatever band of it is asked for: every number
// of ranks gives a weight the same value.
#pragma once

#include "model/matrix_part.h"

namespace llmservice {

// The part of `band` of an unquantized matrix, as `to` (kFp8 or kInt8). `scales` are filled as rows are
// read. Throws as check_column_borders does for FP8, and CheckpointCorrupt from `read`
// when a value is not a finite number.
MatrixPart quantized_part(const StoredWeight& stored, const Band& band, LoadQuantization to,
                          PartScales& scales);

}  // namespace llmservice
