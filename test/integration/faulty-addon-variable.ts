// The variable that makes an engine's processes load the addon with faults on demand. Child processes get no variable that
// is not of systems, devices or the engine, so that what the addon is to know stands in a file of its own.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

// As this file and as one bundled into test/gpu lie.
const addon = fileURLToPath(new URL('../integration/faulty-addon.cjs', import.meta.url));

/**
 * @param folder gets the file
 * @param settings the variables that faulty-addon.cjs reads
 */
export function faultyAddonVariable(
  folder: string,
  settings: Readonly<Record<string, string>>,
): { LLMSERVICE_NATIVE_ADDON: string } {
  const path = join(folder, 'addon.cjs');
  const set = `Object.assign(process.env, ${JSON.stringify(settings)});`;
  writeFileSync(path, `${set}\nmodule.exports = require(${JSON.stringify(addon)});\n`);
  return { LLMSERVICE_NATIVE_ADDON: path };
}
