// The runtime as it runs in a pod: a process of its own with an engine-config file, reached over HTTP.

import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseTerminationMessage, type AdapterReport, type Failure } from '@llmservice/crds';
import { execArguments } from '../../runtime/src/engine/exec-arguments.js';
import { eventually, freePort, start, stop } from '../processes.js';

const entry = fileURLToPath(new URL('../../runtime/dist/main.js', import.meta.url));
export const demoCheckpoint = fileURLToPath(new URL('../../deploy/demo-model/checkpoint', import.meta.url));

/** What of /health the tests look at. */
interface Health {
  readonly state: string;
  readonly failure: Failure | null;
  readonly engine: {
    readonly state: string;
    readonly inFlight: number;
    readonly restarts: number;
    readonly weightBytes?: number;
  } | null;
  readonly load: {
    readonly phase: 'pull' | 'load';
    readonly pulled: Bytes | null;
    readonly loaded: Bytes | null;
  } | null;
  readonly adapters?: AdapterReport;
}

interface Bytes {
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

export interface ReplicaOptions {
  readonly uri: string;
  /** Of the model; demo by default. */
  readonly name?: string;
  readonly endpoint?: string;
  readonly engine?: object;
  /** Of the node; without it the replica pulls its own copy. */
  readonly cache?: object;
  readonly tensor?: number;
  readonly drainTimeoutSeconds?: number;
  readonly noProgressTimeoutSeconds?: number;
  readonly env?: NodeJS.ProcessEnv;
}

export class ReplicaProcess {
  private constructor(
    readonly url: string,
    readonly child: ChildProcess,
    private readonly folder: string,
  ) {}

  static async start(options: ReplicaOptions): Promise<ReplicaProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'llmservice-replica-'));
    const port = await freePort();
    const env = replicaEnvironment(folder, port, options);
    const [program, ...args] = asInContainer([process.execPath, ...execArguments, entry]);
    const child = start(program, args, join(folder, 'log'), env);
    return new ReplicaProcess(`http://127.0.0.1:${port}`, child, folder);
  }

  /** @param key without one a replica with keys shows its state and its load alone */
  async health(key?: string): Promise<Health> {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    return (await (await fetch(`${this.url}/health`, { headers })).json()) as Health;
  }

  async ready(): Promise<void> {
    await this.eventually('the replica to serve', async () => (await this.health()).state === 'serving');
  }

  /** As long as the replica runs; when it ends instead, throws what it ended with. */
  async eventually<T>(what: string, probe: () => Promise<T>): Promise<NonNullable<T>> {
    const ended = (): boolean => this.child.exitCode !== null || this.child.signalCode !== null;
    const found = await eventually(what, async () => ended() || probe(), 60_000);
    if (ended()) throw new Error(`${what}: the replica ended: ${JSON.stringify(this.terminationMessage)}`);
    return found as NonNullable<T>;
  }

  post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
    const init = { method: 'POST', body: JSON.stringify(body) };
    return fetch(this.url + path, signal === undefined ? init : { ...init, signal });
  }

  /** Value of a metric's only series. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    return Number(new RegExp(`^${name}\\{.*\\} (.*)$`, 'm').exec(text)?.[1]);
  }

  /** Resolves with the exit code. */
  async exited(timeoutMs = 60_000): Promise<number | null> {
    await eventually(
      'the replica to exit',
      () => this.child.exitCode !== null || this.child.signalCode !== null,
      timeoutMs,
    );
    return this.child.exitCode;
  }

  get terminationMessage(): Failure | null {
    const path = join(this.folder, 'termination');
    return existsSync(path) ? parseTerminationMessage(readFileSync(path, 'utf8')) : null;
  }

  get log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8');
  }

  async stop(): Promise<void> {
    await stop(this.child, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What containers may do at most by default. */
const capabilities =
  '-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+sys_chroot,+mknod,+audit_write,+setfcap';

/** A command with no more rights than a container's: root may look into every process, and nothing would keep it out. */
export function asInContainer(command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (process.getuid?.() !== 0) return command;
  return ['setpriv', '--inh-caps=-all', `--bounding-set=${capabilities}`, ...command];
}

/** What a replica reads its settings from; writes its engine-config file into the folder. */
export function replicaEnvironment(folder: string, port: number, options: ReplicaOptions): NodeJS.ProcessEnv {
  const config = join(folder, 'engine-config.json');
  writeFileSync(config, JSON.stringify(engineConfig(options)));
  return {
    LLMSERVICE_ENGINE_CONFIG: config,
    LLMSERVICE_PORT: String(port),
    LLMSERVICE_WEIGHTS_DIR: join(folder, 'weights'),
    LLMSERVICE_TERMINATION_LOG: join(folder, 'termination'),
    ...options.env,
  };
}

function engineConfig({
  uri,
  name = 'demo',
  endpoint,
  engine,
  cache,
  tensor = 1,
  drainTimeoutSeconds = 20,
  noProgressTimeoutSeconds = 60,
}: ReplicaOptions): object {
  return {
    model: {
      uri,
      name,
      aliases: [`${name}-alias`],
      s3: { ...(endpoint === undefined ? {} : { endpoint }), forcePathStyle: true },
      ...(cache === undefined ? {} : { cache }),
    },
    accelerator: { kind: 'cpu', memoryBytesPerDevice: 2 ** 30 },
    parallelism: { tensor },
    engine: {
      maxModelLen: 1024,
      memoryUtilizationPercent: 85,
      maxNumSeqs: 32,
      maxNumBatchedTokens: 512,
      blockSize: 64,
      prefixCaching: true,
      dtype: 'auto',
      kvCacheDtype: 'auto',
      quantization: 'none',
      speculative: { method: 'none', tokens: 3 },
      ...engine,
    },
    drainTimeoutSeconds,
    noProgressTimeoutSeconds,
  };
}
