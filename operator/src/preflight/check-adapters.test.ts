// Adapters whose headers are as long as somebody makes them.

import { expect, test } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { parseCheckpointConfig } from '@llmservice/checkpoint';
import { llamaConfig } from '../../../checkpoint/src/config/config.fixture.js';
import { wantedService } from '../resource/wanted-service.fixture.js';
import { checkAdapters } from './check-adapters.js';
import { LongCheckpointError, withoutLong } from './long-reads.js';
import { folder } from './preflight.fixture.js';
import type { CheckpointFiles } from './read-safetensors.js';

const entry = { dtype: 'F32', shape: [1], data_offsets: [0, 4] };
const names = Array.from({ length: 20_000 }, (_, at) => [`${'x'.repeat(60)}${at}`, entry]);
const header = Buffer.from(JSON.stringify(Object.fromEntries(names)));
const length = Buffer.alloc(8);
length.writeBigUInt64LE(BigInt(header.byteLength));
const long = folder({
  'adapter_config.json': '{"peft_type": "LORA"}',
  'adapter_model.safetensors': Buffer.concat([length, header, Buffer.alloc(4)]),
});
const adapters = Array.from({ length: 6 }, (_, at) => ({ name: `a${at}`, uri: `s3://models/a${at}/` }));
const service = wantedService({ adapters });
const shape = parseCheckpointConfig(JSON.stringify(llamaConfig));

test('long headers are parsed one after another, and where that is allowed', async () => {
  const reading = { now: 0, most: 0 };
  const counted: CheckpointFiles = {
    ...long,
    read: async (file, maxBytes, beginAt = 0) => {
      if (beginAt === 0) return long.read(file, maxBytes);
      reading.most = Math.max(reading.most, ++reading.now);
      await turn();
      reading.now -= 1;
      return long.read(file, maxBytes, beginAt);
    },
  };
  const refused = await checkAdapters(service, () => counted, shape);
  expect(refused.map(({ at }) => at)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(reading.most).toBe(1);
  const elsewhere = checkAdapters(service, () => withoutLong(counted), shape);
  await expect(elsewhere).rejects.toThrow(LongCheckpointError);
});
