// What filters, tests and methods are given of the interpreter that runs them.

import type { Meter } from './meter.js';
import type { Args, Value } from './values.js';

export interface Runtime {
  readonly meter: Meter;
  /** @throws TemplateError when there is no such filter */
  filter(name: string, of: Value, args: Args): Value;
  test(name: string, of: Value, args: Args): boolean;
  call(callee: Value, args: Args): Value;
}

/** @param of what it filters */
export type Filter = (runtime: Runtime, of: Value, args: Args) => Value;
export type Test = (runtime: Runtime, of: Value, args: Args) => boolean;
