// How much of /dev/shm the ranks of one machine exchange data over, on the CPU backend.

const pageBytes = 4096;
const stateBytes = 2 * pageBytes;
const areaBytes = 1024 * 1024;

/** Size of the ranks' segment: a state block, and two areas per rank. One rank exchanges nothing. */
export function sharedMemoryBytes(tensor: number): number {
  return tensor === 1 ? 0 : stateBytes + 2 * areaBytes * tensor;
}
