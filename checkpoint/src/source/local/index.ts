// Checkpoints on this machine's disks.

export {
  openCheckpoint,
  openDraftModel,
  openEagle3,
  readLocalMtpHead,
  type LocalCheckpoint,
  type StoredTensor,
} from './open-checkpoint.js';
export { readClassifierHead, readDenseLayer, readLocalModules, type DenseLayer } from './dense-layers.js';
export { openAdapter, type LocalAdapter } from './open-adapter.js';
export { openLocalModel } from './local-gguf.js';
export { parseHeaderInSteps, parseIndexInSteps } from './parse-in-steps.js';
