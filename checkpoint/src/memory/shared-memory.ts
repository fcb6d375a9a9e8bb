// How much of /dev/shm the ranks of one machine exchange data over, on the CPU backend.

// As native/src/parallel/shared_segment.cpp lays the segment out.
const stateBytes = 128 * 1024;
const areaBytes = 1024 * 1024;

/** Size of the ranks' segment: a state block, and two areas per rank. One rank exchanges nothing. */
export function sharedMemoryNeeded(tensor: number): number {
  return tensor === 1 ? 0 : stateBytes + 2 * areaBytes * tensor;
}
