// How much of /dev/shm the ranks of one machine exchange data over, on the CPU backend.

// As native/src/parallel/shared_segment.cpp lays the segment out.
const stateBytes = 128 * 1024;
const areaBytes = 1024 * 1024;

/**
 * Size of the ranks' segment: a state block, and two areas per rank; two more for turns of a stage's ranks, where there are
 * several of both. One rank exchanges nothing.
 */
export function sharedMemoryNeeded(tensor: number, pipeline = 1): number {
  const ranks = tensor * pipeline;
  const areas = tensor > 1 && pipeline > 1 ? 4 : 2;
  return ranks === 1 ? 0 : stateBytes + areas * areaBytes * ranks;
}
