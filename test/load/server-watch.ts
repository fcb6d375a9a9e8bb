// A server process as the kernel and its own metrics see it.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Upper bounds in seconds, and how many observations lie at or below each; the last bound is Infinity. */
type Histogram = readonly { readonly atMost: number; readonly count: number }[];

export class ServerWatch {
  readonly #url: string;
  readonly #pid: number;

  constructor(url: string, pid: number) {
    this.#url = url;
    this.#pid = pid;
  }

  get residentBytes(): number {
    return residentBytes(this.#pid);
  }

  /** Files and sockets that the process may have open. */
  get fileLimit(): number {
    return openFileLimit(this.#pid);
  }

  /** Open TCP sockets, the listening one included; channels to its own processes are none. */
  get sockets(): number {
    const process = `/proc/${String(this.#pid)}`;
    const ofTcp = new Set(
      ['tcp', 'tcp6'].flatMap((protocol) =>
        readFileSync(`${process}/net/${protocol}`, 'utf8')
          .split('\n')
          .slice(1)
          .map((line) => `socket:[${line.trim().split(/\s+/)[9] ?? ''}]`),
      ),
    );
    return readdirSync(`${process}/fd`).filter((fd) => ofTcp.has(linkOf(`${process}/fd/${fd}`))).length;
  }

  /** Of the thread that the event loop runs on: milliseconds on a core, and milliseconds ready but without one. */
  get mainThread(): { readonly ranMs: number; readonly waitedMs: number } {
    const pid = String(this.#pid);
    const [ran, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ').map(Number);
    return { ranMs: (ran ?? NaN) / 1e6, waitedMs: (waited ?? NaN) / 1e6 };
  }

  async metrics(): Promise<string> {
    return (await fetch(`${this.#url}/metrics`)).text();
  }

  /** Value of a metric's only series. */
  async metric(name: string): Promise<number> {
    return valueOf(await this.metrics(), name);
  }

  /** How late the server's event loop was since it started. */
  async eventLoopDelay(): Promise<Histogram> {
    const text = await this.metrics();
    const series = /^llmservice_event_loop_delay_seconds_bucket\{le="([^"]+)".*\} (\d+)$/gm;
    return [...text.matchAll(series)].map(([, atMost, count]) => ({
      atMost: atMost === '+Inf' ? Infinity : Number(atMost),
      count: Number(count),
    }));
  }
}

/** Value of a metric's only series; NaN where there is none. */
export function valueOf(metrics: string, name: string): number {
  return Number(new RegExp(`^${name}\\{.*\\} (.*)$`, 'm').exec(metrics)?.[1]);
}

/** The bucket's bound below which the share of the observations between two readings lies. */
export function quantileBound(before: Histogram, after: Histogram, share: number): number {
  const counts = after.map(({ atMost, count }, i) => ({ atMost, count: count - (before[i]?.count ?? 0) }));
  const total = counts.at(-1)?.count ?? 0;
  return counts.find(({ count }) => count >= share * total)?.atMost ?? NaN;
}

export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

export function openFileLimit(pid: number): number {
  const limits = readFileSync(`/proc/${String(pid)}/limits`, 'utf8');
  const soft = /^Max open files\s+(\S+)/m.exec(limits)?.[1];
  return soft === 'unlimited' ? Infinity : Number(soft);
}

/** Throws where this process, or one that it starts, may not open so many connections. */
export function requireOpenFiles(connections: number): void {
  // Each process has some files of its own besides.
  const needed = connections + 200;
  const limit = openFileLimit(process.pid);
  if (limit >= needed) return;
  throw new Error(
    `this shell lets a process open ${String(limit)} files, and ${String(needed)} are needed: run ulimit -n ${String(needed)} first`,
  );
}

/** Empty where the file was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
