// A scheduler with a prefix cache and the model that runs its plans, for requests one after another.

import { expect } from '@jest/globals';
import { finishCodes, type NumericalFault, type StepResult } from '@llmservice/native';
import type { GenerateRequest } from './generation.js';
import { Scheduler, type SchedulerLimits } from './scheduler.js';
import { StepModel } from './step-model.fixture.js';
import { expectedTokens } from './token-hashes.fixture.js';
import { drain, limits, request } from './workload.fixture.js';

/** The same, with recurrent state. */
export const hybrid: SchedulerLimits = { ...limits, hybrid: true, numStateSnapshots: 8 };

/** `length` tokens that only `name` decides; different names differ from the first token on. */
export const text = (name: string, length: number): number[] => [...request(name, length, 1).prompt];

let ids = 0;
/** A request for a few tokens after a prompt. */
export function asking(prompt: readonly number[], changes: Partial<GenerateRequest> = {}): GenerateRequest {
  const id = `request-${ids++}`;
  return { ...request(id, 1, 4), prompt: Int32Array.from(prompt), ...changes };
}

/** What the engine reports of a slot with non-finite logits. */
export function faultOf(slot: number): NumericalFault {
  return { slot, position: 0, kind: 'notFinite', layer: 1, part: 'attention' };
}

/** A scheduler and the model that runs its plans. */
export class World {
  readonly scheduler: Scheduler;
  readonly model: StepModel;

  constructor(changes: Partial<SchedulerLimits> = {}, base = limits) {
    this.scheduler = new Scheduler({ ...base, ...changes });
    this.model = new StepModel({ ...base, ...changes });
  }

  /** Runs one step; what began in it, by id. */
  step(): Map<string, number> {
    const planned = this.scheduler.plan();
    if (planned === null) throw new Error('there is nothing to run');
    this.scheduler.postprocess(this.model.step(planned.plan));
    return new Map(planned.started.map(({ id, cachedTokens }) => [id, cachedTokens]));
  }

  /** Runs a request alone to its end; how many of its prompt's tokens were cached. Its tokens must be right. */
  ask(asked: GenerateRequest): number {
    this.scheduler.add(asked);
    const cached = this.step().get(asked.id);
    const rest = drain(this.scheduler, this.model).tokens.get(asked.id) ?? [];
    const expected = expectedTokens([...asked.prompt], asked.maxTokens, [...asked.stopTokens]);
    expect(rest).toEqual(expected.slice(expected.length - rest.length));
    if (cached === undefined) throw new Error(`${asked.id} did not begin at once`);
    return cached;
  }
}

/** A result in which these sequences met their faults: no row of theirs gave a token. */
export function withFaults(result: StepResult, faults: readonly NumericalFault[]): StepResult {
  const met = new Set(faults.map(({ slot }) => slot));
  const finish = result.finish.map((code, i) =>
    met.has(result.slots[i] ?? -1) ? finishCodes.numericalFault : code,
  );
  return { ...result, finish, faults };
}
