// The time as budgets and the accounting log see it. The system's clock may step: it is put right after a start, by hand,
// or after a machine slept. A step must give no tokens, and lock nobody out.

/** Of one instant, in milliseconds. */
export interface Moment {
  /** Of a clock that never steps; it has no zero point of its own. */
  readonly steadyMs: number;
  /** Unix time, as the system's clock says. */
  readonly unixMs: number;
  /** Unix time by which days are counted: as the system's clock says, once it has said so for an hour. */
  readonly dayMs: number;
}

/** Clocks are adjusted by slewing: a larger difference between two looks is a step. */
const slewedMs = 2_000;
/** A clock that steps and is put right does it within this time. */
const believedAfterMs = 3_600_000;

export class MomentClock {
  /** Unix time less steady time. */
  #believed: number;
  /** Another difference that the clocks have had since; null: they have none. */
  #doubt: { readonly offset: number; readonly since: number } | null = null;

  /**
   * @param unix the system's clock, in milliseconds
   * @param steady one that never steps, in milliseconds
   */
  constructor(
    private readonly unix: () => number,
    private readonly steady: () => number,
  ) {
    this.#believed = unix() - steady();
  }

  now(): Moment {
    const [steadyMs, unixMs] = [this.steady(), this.unix()];
    this.#follow(unixMs - steadyMs, steadyMs);
    return { steadyMs, unixMs, dayMs: steadyMs + this.#believed };
  }

  #follow(offset: number, now: number): void {
    const doubt = this.#doubt;
    if (isNear(offset, this.#believed)) this.#believe(offset);
    else if (doubt === null || !isNear(offset, doubt.offset)) this.#doubt = { offset, since: now };
    else if (now - doubt.since >= believedAfterMs) this.#believe(offset);
  }

  #believe(offset: number): void {
    this.#believed = offset;
    this.#doubt = null;
  }
}

const isNear = (a: number, b: number): boolean => Math.abs(a - b) <= slewedMs;
