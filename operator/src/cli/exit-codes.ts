// What `llmservice plan` ends with, so that CI can distinguish outcomes. Stable: deploy/docs/plan.md lists them.

/** Of one service. */
export type Verdict = 'fits' | 'refused' | 'invalid' | 'unreadable' | 'unmeasured';

export const exitCodes: Readonly<Record<Verdict, number>> = {
  fits: 0,
  /** It does not fit, or the engine does not run such a checkpoint. */
  refused: 1,
  /** Wrong manifests or arguments. */
  invalid: 2,
  /** The checkpoint or the cluster could not be read: nothing can be said. */
  unreadable: 3,
  /** Nobody said how much memory a device has. */
  unmeasured: 4,
};

const worstFirst: readonly Verdict[] = ['invalid', 'unreadable', 'refused', 'unmeasured'];

function gravest(verdicts: readonly Verdict[]): Verdict {
  return worstFirst.find((verdict) => verdicts.includes(verdict)) ?? 'fits';
}

/** The gravest outcome decides. */
export function exitCodeOf(verdicts: readonly Verdict[]): number {
  return exitCodes[gravest(verdicts)];
}
