// Adapters and draft models from the stores that models come from.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { openCheckpoint } from '@llmservice/checkpoint/local';
import { obtainAdapter } from '../../runtime/src/adapters/obtain-adapter.js';
import { obtainCheckpoint } from '../../runtime/src/weights/obtain-checkpoint.js';
import { lastHiddenDrafter } from '../builders/eagle3-drafter.js';
import { readFiles } from '../builders/files.js';
import { FileServer } from './file-server.js';
import { HubServer } from './hub-server.js';
import { Recorder, sha } from './pull-world.js';
import { randomAdapter } from './random-adapter.js';
import { rawLayers, RegistryServer } from './registry-server.js';
import { demoCheckpoint } from './replica-process.js';

jest.setTimeout(120_000);

let hub: HubServer;
let registry: RegistryServer;
let fileServer: FileServer;
beforeAll(async () => {
  hub = await HubServer.start();
  registry = await RegistryServer.start();
  fileServer = await FileServer.start();
});
afterAll(async () => {
  hub.stop();
  await registry.stop();
  await fileServer.stop();
});

type Files = Readonly<Record<string, string | Uint8Array>>;

/** Where the files of a name are, once they are there. */
const places: readonly (readonly [string, (name: string, files: Files) => Promise<string>])[] = [
  ['a hub', (name, files) => Promise.resolve(`hf://org/${name}@${hub.push(`org/${name}`, files)}`)],
  [
    'a registry',
    async (name, files) => {
      await registry.push(`org/${name}`, 'v1', rawLayers(files));
      return `oci://${registry.host}/org/${name}:v1`;
    },
  ],
  ['a list', (name, files) => Promise.resolve(`${fileServer.https}/${fileServer.put(name, files).path}`)],
];

test.each(places)('from %s', async (_, put) => {
  const { shape } = await openCheckpoint(demoCheckpoint);
  const adapter = randomAdapter(shape, { rank: 8, seed: 1 });
  const drafter = lastHiddenDrafter(demoCheckpoint);
  const weightsDir = mkdtempSync(join(tmpdir(), 'llmservice-beside-'));
  const { signal } = new AbortController();
  const settings = {
    ...{ weightsDir, cache: null, allowedUris: [], observer: new Recorder(), signal },
    sleep: () => Promise.resolve(),
    stores: {
      s3: {
        ...{ endpoint: 'http://127.0.0.1:1', region: 'us-east-1', forcePathStyle: true },
        ...{ credentials: null, caCertificates: [] },
      },
      hub: { endpoint: hub.endpoint, token: null, caCertificates: [] },
      oci: { plainHttp: true, dockerConfig: null, caCertificates: [] },
      list: { token: null, caCertificates: [fileServer.certificate] },
    },
  };
  try {
    const obtained = await obtainAdapter(await put('adapter', adapter), settings, (read) => read());
    const weights = 'adapter_model.safetensors';
    expect(sha(readFileSync(join(obtained.dir, weights)))).toBe(sha(adapter[weights]));
    obtained.release();

    const uri = await put('base', readFiles(demoCheckpoint));
    const head = { method: 'eagle3', uri: await put('drafts', drafter) } as const;
    const pins = { model: null, head: null };
    const { arrivals, verified } = await obtainCheckpoint({ ...settings, uri, head, pins });
    await verified.finally(() => arrivals?.close());
    const [drafts = ''] = readdirSync(weightsDir).filter((name) => name.endsWith('-eagle3'));
    const stored = readFiles(join(weightsDir, drafts))['model.safetensors'] ?? '';
    expect(sha(stored)).toBe(sha(drafter['model.safetensors'] ?? ''));
  } finally {
    rmSync(weightsDir, { recursive: true, force: true });
  }
});
