import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { loadAddon } from './load-addon.js';

test('an addon that the environment names but that is not there is refused with what to do', () => {
  const dir = mkdtempSync(join(tmpdir(), 'addon-'));
  try {
    expect(() => loadAddon(join(dir, 'none.node'))).toThrow(
      /LLMSERVICE_NATIVE_ADDON names .*none\.node.*make native/,
    );
  } finally {
    rmSync(dir, { recursive: true });
  }
});
