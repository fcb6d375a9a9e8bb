// In which portions checkpoints are pulled.

/** 8 x 16 MiB in flight fill a 10 Gbit/s link at S3's usual 100 ms per request. */
export const parallelRanges = 8;
export const pieceBytes = 16 * 1024 * 1024;
