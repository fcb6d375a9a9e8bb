// The public face of @llmservice/native.

export * from './binding.js';
export {
  cpuIsas,
  dieWithParent,
  grammarCompiler,
  loadEngine,
  makeSegment,
  runRank,
  tryLock,
} from './engine.js';
