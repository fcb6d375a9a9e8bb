// Serves requests on an engine as the engine process does, by the real scheduler, and keeps what each of them got:
// tokens, logprobs and, where the engine reports them, hashes of the logits behind every token.

import type { Engine } from '@llmservice/native';

import { emptyPlan } from '../../native/ts/step-plan.fixture.js';
import type { GenerateRequest, Sampled } from '../../runtime/src/schedule/generation.js';
import type { SchedulerLimits, SchedulerStats } from '../../runtime/src/schedule/scheduler.js';
import { Scheduler } from '../../runtime/src/schedule/scheduler.js';

/** A request and the step before which it comes. */
export interface Arrival {
  readonly step: number;
  readonly request: GenerateRequest;
}

export interface Answer {
  readonly tokens: number[];
  readonly logprobs: Sampled['logprobs'][];
  readonly logitHashes: bigint[];
  readonly finish: Sampled['finish'];
}

export interface Served {
  /** By request. */
  readonly answers: ReadonlyMap<string, Answer>;
  readonly stats: SchedulerStats;
}

/** Serves all arrivals to their ends; the engine has no sequence before and none after. */
export async function serve(
  engine: Engine,
  limits: Omit<SchedulerLimits, 'hybrid'>,
  arrivals: readonly Arrival[],
  onStep: (step: number) => void = () => undefined,
): Promise<Served> {
  const scheduler = new Scheduler({ ...limits, hybrid: engine.info.hybrid });
  const answers = new Map<string, Answer>();
  const held = new Set<number>();
  const waiting = arrivals.toSorted((a, b) => a.step - b.step);
  for (let step = 0; ; step++) {
    while (waiting[0] !== undefined && waiting[0].step <= step) scheduler.add(waiting.shift()!.request);
    const planned = scheduler.plan();
    if (planned === null && waiting.length === 0) break;
    if (planned === null) continue;
    onStep(step);
    for (const slot of planned.plan.release) held.delete(slot);
    for (const { slot } of planned.plan.admit) held.add(slot);
    const result = await engine.step(planned.plan);
    // Nothing is cancelled here, so that entry i of the result is entry i of what was postprocessed.
    scheduler
      .postprocess(result)
      .sampled.forEach((sampled, i) => add(answers, sampled, result.logitHashes[i]));
  }
  // The scheduler reports slots that are free again with the step that follows; after the last there is none.
  await engine.step({ ...emptyPlan, release: Int32Array.from(held) });
  return { answers, stats: scheduler.stats };
}

function add(
  answers: Map<string, Answer>,
  { id, token, logprobs, finish }: Sampled,
  hash: bigint | undefined,
): void {
  const before = answers.get(id) ?? { tokens: [], logprobs: [], logitHashes: [], finish: null };
  answers.set(id, {
    tokens: [...before.tokens, token],
    logprobs: [...before.logprobs, logprobs],
    logitHashes: hash === undefined ? before.logitHashes : [...before.logitHashes, hash],
    finish,
  });
}
