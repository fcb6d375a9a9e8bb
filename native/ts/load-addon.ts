// Finds and loads the compiled addon: LLMSERVICE_NATIVE_ADDON, or the build folder beside this package's sources.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import type { NativeAddon } from './binding.js';

const builtAddon = fileURLToPath(new URL('../build/Release/llmservice_native.node', import.meta.url));

/** The addon, loaded once per process by Node itself. @throws when it has not been built. */
export function loadAddon(override: string | undefined): NativeAddon {
  const path = override ?? builtAddon;
  if (!existsSync(path)) {
    throw new Error(
      override === undefined
        ? `The native engine is not built: there is no ${path}. Run \`make native\`.`
        : `LLMSERVICE_NATIVE_ADDON names ${path}, which does not exist. Unset it or run \`make native\`.`,
    );
  }
  return createRequire(import.meta.url)(path) as NativeAddon;
}
