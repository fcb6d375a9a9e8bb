// Whether pods were asked anything, judged from two checks their /metrics: nothing runs or waits, and no token was
// counted in between. What cannot be seen is never idle.

import { podMetrics } from '@llmservice/crds';

/** What a pod's /metrics report of requests, by names that vLLM and our engine share. */
export interface Activity {
  readonly running: number;
  readonly waiting: number;
  /** Grows with every request that was answered. */
  readonly counted: number;
  /** Share of the KV cache in use; null: it is not reported. */
  readonly kvUsage: number | null;
}

/** One look at all pods of a service that answer. */
export interface Look {
  /** By uid. */
  readonly pods: ReadonlyMap<string, Activity>;
  /** Why others could not be seen. */
  readonly unseen: readonly string[];
}

/** What the looks so far amount to; times by a monotonic clock. */
export type Watched =
  | { readonly state: 'unknown' }
  | { readonly state: 'busy' }
  | { readonly state: 'unseen'; readonly message: string }
  /** `trace` is the same as long as nothing was asked. */
  | { readonly state: 'idle'; readonly sinceMs: number; readonly trace: string };

export type Idleness =
  Exclude<Watched, { state: 'idle' }> | { readonly state: 'idle'; readonly forMs: number };

export function watch(before: Watched, look: Look, nowMs: number): Watched {
  const [message] = look.unseen;
  if (message !== undefined) return { state: 'unseen', message };
  if (look.pods.size === 0) return { state: 'unknown' };
  if ([...look.pods.values()].some(({ running, waiting }) => running > 0 || waiting > 0)) {
    return { state: 'busy' };
  }
  const trace = [...look.pods].map(([uid, { counted }]) => `${uid}=${String(counted)}`);
  const now = trace.sort().join(' ');
  const sinceMs = before.state === 'idle' && before.trace === now ? before.sinceMs : nowMs;
  return { state: 'idle', sinceMs, trace: now };
}

export function idlenessAt(watched: Watched, nowMs: number): Idleness {
  return watched.state === 'idle' ? { state: 'idle', forMs: nowMs - watched.sinceMs } : watched;
}

const { running, waiting, kvUsage } = podMetrics;
const counters: readonly string[] = [
  podMetrics.promptTokens,
  podMetrics.generationTokens,
  podMetrics.requestSuccess,
];

/** From the text of /metrics; null where it lacks what is needed. */
export function parseActivity(text: string): Activity | null {
  const sums = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^([\w:]+)(?:\{.*\})?\s+(\S+)/.exec(line) ?? [];
    if (name === running || name === waiting || name === kvUsage || counters.includes(name)) {
      const before = sums.get(name) ?? 0;
      // A share is not added to another engine's.
      sums.set(name, name === kvUsage ? Math.max(before, Number(value)) : before + Number(value));
    }
  }
  const activity = {
    running: sums.get(running) ?? NaN,
    waiting: sums.get(waiting) ?? NaN,
    counted: counters.reduce((sum, name) => sum + (sums.get(name) ?? NaN), 0),
  };
  if (!Object.values(activity).every(Number.isFinite)) return null;
  const share = sums.get(kvUsage) ?? NaN;
  return { ...activity, kvUsage: Number.isFinite(share) ? share : null };
}
