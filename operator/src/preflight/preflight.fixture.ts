// Endpoints of checkpoints that answer, answer at length or never do, and a preflight that reads them by a clock that tests set.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, jest } from '@jest/globals';
import { safetensorsIndexFile } from '@llmservice/checkpoint';
import type { WantedService } from '../domain/wanted-service.js';
import { wantedService } from '../resource/wanted-service.fixture.js';
import type { CheckpointSource, OpenFolders } from './judge-checkpoint.js';
import { Preflight, type PreflightOptions } from './preflight.js';
import type { CheckpointFiles } from './read-safetensors.js';

const never = (): Promise<never> => new Promise(() => undefined);
export const silent: CheckpointFiles = { read: never, readOptional: never, list: never };

export function folder(contents: Readonly<Record<string, string | Uint8Array>>): CheckpointFiles {
  const read: CheckpointFiles['read'] = (file, maxBytes, beginAt = 0) => {
    const content = contents[file];
    if (content === undefined) return Promise.resolve(null);
    const bytes = Buffer.from(content);
    const range = bytes.subarray(beginAt, beginAt + maxBytes);
    return Promise.resolve({ bytes: range, fileBytes: bytes.byteLength, etag: String(bytes.byteLength) });
  };
  const listed = Object.entries(contents).map(([name, content]) => {
    const bytes = Buffer.from(content).byteLength;
    return { name, bytes, version: String(bytes) };
  });
  return { read, readOptional: read, list: () => Promise.resolve(listed) };
}

const header = JSON.stringify({ w: { dtype: 'BF16', shape: [1], data_offsets: [0, 2] } });
const whole = {
  'config.json': '{}',
  'model.safetensors': Buffer.concat([
    Buffer.from([header.length, 0, 0, 0, 0, 0, 0, 0, ...Buffer.from(header)]),
    Buffer.alloc(2),
  ]),
};
export const good = folder(whole);
const names = Array.from({ length: 20_000 }, (_, at): [string, string] => [
  `model.layers.${at}.mlp.experts.weight`,
  'model.safetensors',
]);
export const longContents = {
  ...whole,
  [safetensorsIndexFile]: JSON.stringify({ weight_map: Object.fromEntries(names) }),
};
export const long = folder(longContents);
/** Its index is long, and the rest of it never comes. */
const longSilent: CheckpointFiles = {
  ...long,
  read: (file, maxBytes, beginAt = 0) => (beginAt > 0 ? never() : long.read(file, maxBytes, beginAt)),
};

/** Of any engine, so that few files make a checkpoint. */
export function service(namespace: string, name = namespace): WantedService {
  return { ...wantedService({ engine: { runtime: 'vllm' } }), namespace, name };
}

class Endpoints implements CheckpointSource {
  /** By the service's name. */
  readonly files = new Map<string, CheckpointFiles>();
  /** Namespaces of what is open now. */
  readonly opened: string[] = [];

  async open({ namespace, name }: WantedService): Promise<OpenFolders> {
    this.opened.push(namespace);
    const files = this.files.get(name) ?? silent;
    await Promise.resolve();
    return { at: () => files, close: () => void this.opened.splice(this.opened.indexOf(namespace), 1) };
  }
}

export class PreflightWorld {
  readonly endpoints = new Endpoints();
  /** Keys of the services whose reads ended. */
  readonly reported: string[] = [];
  /** How far the clock is ahead. */
  lateMs = 0;
  preflight: Preflight;

  constructor() {
    this.endpoints.files.set('good', good).set('long', long).set('long-silent', longSilent);
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + this.lateMs);
    this.preflight = this.make({});
  }

  /** Another preflight, as that of the next operator. */
  start(options: PreflightOptions = {}): void {
    this.preflight = this.make(options);
  }

  stop(): void {
    this.preflight.stop();
    jest.restoreAllMocks();
  }

  private make(options: PreflightOptions): Preflight {
    return new Preflight(this.endpoints, { onRead: (key) => this.reported.push(key), ...options });
  }
}

export async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 5_000 && !holds(); tries += 1) await sleep(5);
  expect(holds()).toBe(true);
}
