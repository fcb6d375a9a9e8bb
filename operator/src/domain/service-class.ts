// Where a service stands with its class.

import type { LlmServiceStatus } from '@llmservice/crds';

/** What it took, as its status has it. */
export type TakenClass = NonNullable<LlmServiceStatus['class']>;

export interface ClassProblem {
  readonly reason: 'ClassNotFound' | 'ClassNotServed' | 'ClassNotReadable' | 'ClassInvalid' | 'OutOfBounds';
  /** What it is and what to do. */
  readonly message: string;
}

export type ServiceClass =
  /** It names none. */
  | { readonly state: 'none' }
  /** Nothing could be taken, or what it asks for is beyond the bounds: the pods stay as they are. */
  | { readonly state: 'refused'; readonly problem: ClassProblem }
  | {
      readonly state: 'taken';
      readonly taken: TakenClass;
      /** What is wrong since it was taken; null: nothing. */
      readonly problem: ClassProblem | null;
      /** The class as it is now would give other values; null: the same ones. */
      readonly newer: { readonly generation: number; readonly fields: readonly string[] } | null;
    };
