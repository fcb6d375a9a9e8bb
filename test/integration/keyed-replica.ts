// Replicas with API keys and an accounting log: their folders, requests that send a key, and what is counted of each key.

import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';
import { longContext } from './streams.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
/** The key of id `a` is the text `sk-a`. */
export const entry = (id: string, limits: object = {}) => ({ id, sha256: sha256(`sk-${id}`), ...limits });

export interface Line {
  readonly id: string;
  readonly key: string;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly finish: readonly string[];
}

/** A Secret's mount, and the folder of the accounting log. */
export class Folders {
  readonly root = mkdtempSync(join(tmpdir(), 'llmservice-keys-'));
  readonly keys = join(this.root, 'keys');
  readonly accounting = join(this.root, 'accounting');
  private revision = 0;

  constructor(keys: readonly object[]) {
    mkdirSync(this.keys);
    this.mount(JSON.stringify({ keys }));
    symlinkSync('..data/keys.yaml', join(this.keys, 'keys.yaml'));
  }

  /** As the kubelet changes a mounted Secret. */
  mount(content: string): void {
    this.revision += 1;
    const data = join(this.keys, `..${String(this.revision)}`);
    mkdirSync(data);
    writeFileSync(join(data, 'keys.yaml'), content);
    symlinkSync(`..${String(this.revision)}`, join(this.keys, '..data_tmp'));
    renameSync(join(this.keys, '..data_tmp'), join(this.keys, '..data'));
  }

  /** Whole lines of the log; a reader skips what is none. */
  get lines(): Line[] {
    const names = readdirSync(this.accounting).filter((name) => name.endsWith('.jsonl'));
    return names.flatMap((name) =>
      readFileSync(join(this.accounting, name), 'utf8')
        .split('\n')
        .flatMap((line) => {
          try {
            return [JSON.parse(line) as Line];
          } catch {
            return [];
          }
        }),
    );
  }

  start(env: NodeJS.ProcessEnv = {}): Promise<ReplicaProcess> {
    const own = { KEYS_DIR: this.keys, ACCOUNTING_DIR: this.accounting };
    return ReplicaProcess.start({ uri: demoCheckpoint, engine: longContext, env: { ...own, ...env } });
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export const clientOf = (replica: ReplicaProcess, key: string, maxRetries = 0): OpenAI =>
  new OpenAI({ baseURL: `${replica.url}/v1`, apiKey: `sk-${key}`, maxRetries });

export function complete(
  replica: ReplicaProcess,
  key: string,
  body: object,
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${replica.url}/v1/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${key}` },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** A counter of one key; 0 before it counts. */
export async function ofKey(replica: ReplicaProcess, name: string, key: string): Promise<number> {
  const text = await (await fetch(`${replica.url}/metrics`)).text();
  return Number(new RegExp(`^llmservice_key_${name}\\{.*key="${key}".*\\} (.*)$`, 'm').exec(text)?.[1] ?? 0);
}
