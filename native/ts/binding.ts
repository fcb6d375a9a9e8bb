// The one declaration of the native addon. `npm run generate` writes src/bridge/structs.h from it, which says how C++ holds and
// reads what is declared here. Across the bridge: null, never undefined; no further fields; typed arrays are copied.

export * from './bridge/adapter.js';
export * from './bridge/addon.js';
export * from './bridge/admission.js';
export * from './bridge/engine-options.js';
export * from './bridge/grammar.js';
export * from './bridge/numbers.js';
export * from './bridge/reasoning.js';
export * from './bridge/sampling.js';
export * from './bridge/step-plan.js';
export * from './bridge/step-result.js';
export * from './bridge/transfer.js';
