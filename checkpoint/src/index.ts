// What a checkpoint is, read without its weights: config.json or GGUF metadata to one model shape, headers to tensors, tensors
// to what each rank holds, and all of it to a memory plan. Operator, runtime and engine know checkpoints by this alone.

export { supportedModelTypes } from './config/architectures.js';
export { isObject } from './config/config-fields.js';
export { labelsOf, type LabelActivation, type Labels } from './config/labels.js';
export type * from './config/model-shape.js';
export type { FeedForwardKind, LayerKind } from './config/layer-kinds.js';
export type { Rope, RopeScaling } from './config/rope.js';
export { parseCheckpointConfig, parseConfigObject } from './config/read-config.js';
export * from './config/quantization.js';
export * from './formats/safetensors.js';
export * from './formats/safetensors-header.js';
export * from './formats/safetensors-index.js';
export * from './json/small-json.js';
export * from './formats/gguf-header.js';
export type { GgufValue } from './formats/gguf-values.js';
export * from './formats/gguf-checkpoint.js';
export * from './formats/read-gguf-headers.js';
export * from './formats/choose-gguf.js';
export { firstGgufPart, parseGgufPartName } from './formats/gguf-part-names.js';
export type * from './source/byte-source.js';
export * from './source/checkpoint-pin.js';
export * from './weights/resident-weights.js';
export * from './weights/rank-weights.js';
export * from './weights/tensor-parallel.js';
export { asStored } from './weights/engine-names.js';
export { inEngineForm } from './weights/fused-experts.js';
export { joinPacked } from './weights/packed-tensors.js';
export { checkTensors } from './weights/check-tensors.js';
export { weighCheckpoint, type WeighOptions } from './weights/weigh-checkpoint.js';
export * from './memory/shared-memory.js';
export * from './weights/speculation.js';
export * from './weights/mtp-head.js';
export type { KvCacheDtype } from './memory/kv-cache.js';
export { workRoom } from './memory/host-processes.js';
export { deviceReserve } from './memory/memory-parts.js';
export * from './memory/memory-plan.js';
export * from './memory/rough-estimate.js';
