// A gateway's router as it runs in a pod: a process of its own, with the folders that the kubelet would mount.

import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { routeTableFile, type ModelRoute } from '../../operator/src/domain/route-table.js';
import { eventually, freePort, start, stop } from '../processes.js';

const entry = fileURLToPath(new URL('../../operator/dist/router/main.js', import.meta.url));

/** A cluster's names, which the test's machine does not know, all lead to it. */
const clusterNames = `
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
const { lookup } = dns;
dns.lookup = (name, ...rest) => lookup(name.endsWith('.svc') ? '127.0.0.1' : name, ...rest);
syncBuiltinESMExports();
`;

/** A key of the router's file, by its text. */
export interface RouterKey {
  readonly id: string;
  readonly text: string;
  readonly cacheGroup?: string;
  readonly tokensPerDay?: number;
}

export interface RouterProcessOptions {
  readonly routes: readonly ModelRoute[];
  readonly keys?: readonly RouterKey[];
  readonly env?: NodeJS.ProcessEnv;
}

export class RouterProcess {
  private constructor(
    readonly url: string,
    readonly child: ChildProcess,
    private readonly metricsUrl: string,
    private readonly folder: string,
  ) {}

  static async start({ routes, keys, env }: RouterProcessOptions): Promise<RouterProcess> {
    const folder = mkdtempSync(join(tmpdir(), 'llmservice-router-'));
    const [port, metricsPort] = [await freePort(), await freePort()];
    for (const each of ['routes', 'keys']) mkdirSync(join(folder, each));
    writeRoutes(folder, routes);
    if (keys !== undefined) writeFileSync(join(folder, 'keys', 'keys.yaml'), keyFile(keys));
    const child = start(process.execPath, [entry], join(folder, 'log'), {
      ROUTES_DIR: join(folder, 'routes'),
      ...(keys === undefined ? {} : { KEYS_DIR: join(folder, 'keys') }),
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(clusterNames)}`,
      ...env,
    });
    const address = (each: number): string => `http://127.0.0.1:${String(each)}`;
    const router = new RouterProcess(address(port), child, address(metricsPort), folder);
    try {
      await eventually('the router', async () => {
        if (child.exitCode !== null) throw new Error(router.log);
        return (await fetch(`${router.metricsUrl}/readyz`)).ok;
      });
      return router;
    } catch (error) {
      // Nobody else knows of it.
      await router.stop();
      throw error;
    }
  }

  get log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8');
  }

  /** Another table; settles once the router has it. */
  async take(routes: readonly ModelRoute[]): Promise<void> {
    const before = this.reads();
    writeRoutes(this.folder, routes);
    await eventually('the router to read its table', () => this.reads() > before);
  }

  async metrics(): Promise<string> {
    return (await fetch(`${this.metricsUrl}/metrics`)).text();
  }

  /** Value of a series, with its labels as Prometheus writes them; 0 where there is none. */
  async metric(series: string): Promise<number> {
    const line = (await this.metrics()).split('\n').find((each) => each.startsWith(`${series} `));
    return Number(line?.split(' ').at(-1) ?? 0);
  }

  async readiness(): Promise<number> {
    return (await fetch(`${this.metricsUrl}/readyz`)).status;
  }

  async stop(): Promise<void> {
    await stop(this.child, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  private reads(): number {
    return this.log.split('a file was read anew').length;
  }
}

/** In one step, as the kubelet does. */
function writeRoutes(folder: string, models: readonly ModelRoute[]): void {
  const file = join(folder, 'routes', routeTableFile);
  writeFileSync(`${file}.new`, JSON.stringify({ gateway: 'default/all', models }));
  renameSync(`${file}.new`, file);
}

function keyFile(keys: readonly RouterKey[]): string {
  return JSON.stringify({
    keys: keys.map(({ text, ...key }) => ({
      ...key,
      sha256: createHash('sha256').update(text).digest('hex'),
    })),
  });
}

export function modelRoute(name: string, url: string, change: Partial<ModelRoute> = {}): ModelRoute {
  return {
    ...{ name, url, service: name, aliases: [], ca: null, served: [name], fallback: [] },
    ...{ visibleTo: null, created: 1_700_000_000 },
    ...change,
  };
}
