// A rule of the resource, as the CRD has it: what CEL checks, and what is reported where that is false.

export interface SpecRule {
  /** Names of the fields down to the value that is `self`; `[]` is each item of a list. */
  readonly at: readonly string[];
  /** In CEL. */
  readonly rule: string;
  /** What is wrong, below `self`: `.parallelism.tensor`; empty for `self`. */
  readonly fieldPath: string;
  readonly message: string;
}
