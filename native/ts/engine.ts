// The package's functions over the addon.

import type { Engine, EngineOptions, LoadProgress } from './binding.js';
import { loadAddon } from './load-addon.js';

const addon = () => loadAddon(process.env['LLMSERVICE_NATIVE_ADDON']);

/**
 * Loads a checkpoint into memory and allocates its caches.
 * @throws an error whose `reason` is a failure reason of the contract, with a message that names file and tensor.
 */
export async function loadEngine(options: EngineOptions, onProgress: LoadProgress): Promise<Engine> {
  return addon().load(options, onProgress);
}

/** CPU instruction families that this machine can run, best last. */
export function cpuIsas(): string[] {
  return addon().cpuIsas();
}
