// Every golden checkpoint, whole and with one tensor gone or of other sides: the plan's verdict is the engine's.

import { readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { openCheckpoint, type LocalCheckpoint } from '@llmservice/checkpoint/local';
import { checkTensors } from '@llmservice/checkpoint';
import { describeCheckpoint } from '../../native/ts/describe-checkpoint.js';
import { plainOptions } from '../../native/ts/engine-options.fixture.js';
import { loadAddon } from '../../native/ts/load-addon.js';
import { modelsDir } from './golden-values.js';

const addon = loadAddon(process.env['LLMSERVICE_NATIVE_ADDON']);

const reasonOf = (error: unknown): unknown => (error as { reason?: string }).reason ?? error;

function verdictOfPlan({ shape, tensors }: LocalCheckpoint): unknown {
  try {
    checkTensors(shape, tensors);
    return 'sound';
  } catch (error) {
    return reasonOf(error);
  }
}

async function verdictOfEngine(checkpoint: LocalCheckpoint): Promise<unknown> {
  const room = { blockSize: 16, numBlocks: 1, maxNumSeqs: 1, numStateSnapshots: 0, maxModelLen: 16 };
  const { quantization, ...options } = { ...plainOptions, ...room, maxNumBatchedTokens: 65 };
  const described = describeCheckpoint(checkpoint, quantization);
  const loading = addon.load({ ...options, checkpoint: described, head: null }, null, () => undefined);
  return loading.then(async (engine) => {
    await engine.dispose();
    return 'sound';
  }, reasonOf);
}

/** Of each kind of tensor one: the first whose name without numbers is new. */
function kindsOf({ tensors }: LocalCheckpoint): string[] {
  const kinds = new Map<string, string>();
  for (const { name } of tensors) {
    const kind = name.replace(/\d+/g, '#');
    if (!/scale|^mtp\.|visual|rope_freqs/.test(name) && !kinds.has(kind)) kinds.set(kind, name);
  }
  return [...kinds.values()];
}

describe.each(readdirSync(modelsDir))('%s', (model) => {
  test('is sound, and each tensor that is missing or of other sides is refused for the same reason', async () => {
    const checkpoint = await openCheckpoint(modelsDir + model);
    expect(verdictOfPlan(checkpoint)).toBe('sound');
    expect(await verdictOfEngine(checkpoint)).toBe('sound');
    for (const name of kindsOf(checkpoint)) {
      const missing = { ...checkpoint, tensors: checkpoint.tensors.filter((tensor) => tensor.name !== name) };
      const odd = {
        ...checkpoint,
        tensors: checkpoint.tensors.map((tensor) =>
          tensor.name === name ? { ...tensor, shape: [1, ...tensor.shape] } : tensor,
        ),
      };
      for (const [what, damaged] of [
        ['missing', missing],
        ['odd', odd],
      ] as const) {
        const verdict = verdictOfPlan(damaged);
        // A tied head that some releases store all the same is read by nobody.
        expect([name, what, verdict]).toEqual([name, what, await verdictOfEngine(damaged)]);
      }
    }
  });
});
