// The contract package: everything that more than one part of the system must spell the same way.

export * from './names.js';
export * from './failures.js';
export * from './architectures.js';
export * from './checkpoint.js';
export * from './quantization.js';
export * from './safetensors.js';
export * from './gguf-header.js';
export type { GgufValue } from './gguf-values.js';
export * from './gguf-checkpoint.js';
export * from './read-gguf-header.js';
export * from './choose-gguf.js';
export * from './resident-weights.js';
export * from './tensor-parallel.js';
export * from './shared-memory.js';
export { formatGiB } from './bytes.js';
export * from './speculation.js';
export * from './mtp-head.js';
export type { KvCacheDtype } from './kv-cache.js';
export * from './memory-plan.js';
export * from './validate.js';
export * from './read-key-file.js';
export * from './fields.js';
export * from './setting-text.js';
export * from './spec-variables.js';
export type * from './generated/llm-service.js';
export type * from './generated/engine-config.js';
export { specDefaults } from './generated/spec-defaults.js';
