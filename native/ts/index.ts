// The public face of @llmservice/native.

export * from './binding.js';
export {
  cpuIsas,
  denyTracing,
  dieWithParent,
  gpuDevices,
  grammarCompiler,
  groupState,
  keepDescriptors,
  loadEngine,
  makeMemoryFile,
  makeSegment,
  runRank,
  tryLock,
} from './engine.js';
export { adapterParts } from './adapter-parts.js';
