// Checkpoints on this machine's disks.

export {
  openCheckpoint,
  openDraftModel,
  openEagle3,
  readLocalMtpHead,
  type LocalCheckpoint,
  type StoredTensor,
} from './open-checkpoint.js';
export { readClassifierHead } from './classifier-head.js';
export { openAdapter, type LocalAdapter } from './open-adapter.js';
export { openLocalModel } from './local-gguf.js';
export { parseHeaderInSteps, parseIndexInSteps } from './parse-in-steps.js';
