// The public face of @llmservice/native.

export * from './binding.js';
export { cpuIsas, loadEngine } from './engine.js';
