// Whether pods were asked anything, judged from two looks at their /metrics: nothing runs or waits, and no token was
// counted in between. What cannot be seen is never idle.

/** What a pod's /metrics tell of requests, by names that vLLM and our engine share. */
export interface Activity {
  readonly running: number;
  readonly waiting: number;
  /** Grows with every request that was answered. */
  readonly counted: number;
}

/** Of every pod of a service, by uid; or why one cannot be seen. */
export type Look =
  | { readonly state: 'seen'; readonly pods: ReadonlyMap<string, Activity> }
  | { readonly state: 'unseen'; readonly message: string };

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
  if (look.state === 'unseen') return look;
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

const running = 'vllm:num_requests_running';
const waiting = 'vllm:num_requests_waiting';
const counters = ['vllm:prompt_tokens_total', 'vllm:generation_tokens_total', 'vllm:request_success_total'];

/** From the text of /metrics; null where it lacks what is needed. */
export function parseActivity(text: string): Activity | null {
  const sums = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^([\w:]+)(?:\{.*\})?\s+(\S+)/.exec(line) ?? [];
    if (name === running || name === waiting || counters.includes(name)) {
      sums.set(name, (sums.get(name) ?? 0) + Number(value));
    }
  }
  const activity = {
    running: sums.get(running) ?? NaN,
    waiting: sums.get(waiting) ?? NaN,
    counted: counters.reduce((sum, name) => sum + (sums.get(name) ?? NaN), 0),
  };
  return Object.values(activity).every(Number.isFinite) ? activity : null;
}
