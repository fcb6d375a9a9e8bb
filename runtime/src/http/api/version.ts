// The version of this package, as answers and /version report it.

import { createRequire } from 'node:module';

const manifest = createRequire(import.meta.url)('../../../package.json') as { readonly version: string };

export const version = manifest.version;
export const systemFingerprint = `llmservice-${version}`;
