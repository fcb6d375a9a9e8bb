// Endpoints of checkpoints that answer, answer at length or never do, and a preflight that reads them by a clock that moves
// only where tests set it: however slow the machine, no read is late by itself.

import { setTimeout as pause } from 'node:timers/promises';
import { expect, jest } from '@jest/globals';
import { safetensorsIndexFile } from '@llmservice/checkpoint';
import type { WantedService } from '../domain/wanted-service.js';
import { wantedService } from '../resource/wanted-service.fixture.js';
import type { CheckpointSource, OpenFolders, Sleep } from './judge-checkpoint.js';
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
  preflight: Preflight;
  private nowMs = 0;
  private readonly sleepers = new Map<() => void, number>();

  constructor() {
    this.endpoints.files.set('good', good).set('long', long).set('long-silent', longSilent);
    // Later than the beginning, at which what was never read is due.
    jest.spyOn(performance, 'now').mockImplementation(() => 1 + this.nowMs);
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

  /** Since the beginning. */
  get lateMs(): number {
    return this.nowMs;
  }

  set lateMs(ms: number) {
    this.nowMs = ms;
    for (const [wake, at] of this.sleepers) if (at <= ms) wake();
  }

  private readonly sleep: Sleep = (ms, _value, { signal }) =>
    new Promise((resolve, reject) => {
      const end = (): void => {
        this.sleepers.delete(end);
        if (signal.aborted) reject(signal.reason as Error);
        else resolve();
      };
      signal.addEventListener('abort', end, { once: true });
      this.sleepers.set(end, this.nowMs + ms);
    });

  private make(options: PreflightOptions): Preflight {
    return new Preflight(this.endpoints, {
      onRead: (key) => this.reported.push(key),
      sleep: this.sleep,
      ...options,
    });
  }
}

export async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 5_000 && !holds(); tries += 1) await pause(5);
  expect(holds()).toBe(true);
}
