// An engine for tests of the step loop: steps begin in their order, and each ends when the test says so.

import type { Engine, StepPlan, StepResult } from '@llmservice/native';
import type { SchedulerLimits } from '../schedule/scheduler.js';
import { StepModel } from '../schedule/step-model.fixture.js';

interface Asked {
  readonly plan: StepPlan;
  readonly resolve: (result: StepResult) => void;
  readonly reject: (error: Error) => void;
}

export class WaitingEngine implements Pick<Engine, 'step' | 'withdraw'> {
  readonly #model: StepModel;
  /** The first runs, the others wait. */
  readonly #asked: Asked[] = [];
  /** Whether the second has begun as well, by the engine's own clock. */
  hasBegun = false;

  constructor(limits: SchedulerLimits) {
    this.#model = new StepModel(limits);
  }

  /** Rows of the steps that run and wait. */
  get rows(): number[][] {
    return this.#asked.map(({ plan }) => [...plan.rows]);
  }

  step(plan: StepPlan): Promise<StepResult> {
    if (this.#asked.length === 2) throw new Error('a third step');
    return new Promise((resolve, reject) => this.#asked.push({ plan, resolve, reject }));
  }

  withdraw(): boolean {
    if (this.hasBegun || this.#asked.length < 2) return false;
    this.#asked.pop()?.reject(new Error('withdrawn'));
    return true;
  }

  /**
   * Ends the step that runs; resolves once whoever waited for it has continued.
   * @param change of what the stand-in engine gives
   */
  async end(change: Partial<StepResult> = {}): Promise<void> {
    const ending = this.#asked.shift();
    if (ending === undefined) throw new Error('no step runs');
    ending.resolve({ ...this.#model.step(ending.plan), ...change });
    await new Promise(setImmediate);
  }

  /** Fails all steps, as an engine that is lost does. */
  async fail(): Promise<void> {
    for (const { reject } of this.#asked.splice(0)) reject(new Error('lost'));
    await new Promise(setImmediate);
  }
}
