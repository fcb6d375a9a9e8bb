// Typed reading of config.json's fields. null counts as absent, as in transformers.

import { FailureError } from '@llmservice/crds';

export type ConfigObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is ConfigObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Layers or experts, each of which takes memory before it is known whether there are weights for it: several times what any model has. */
const maxParts = 10_000;
/** Widths and counts of the engine are 32-bit. */
const maxCount = 2 ** 30;

/** Reads fields and gathers every violation, so that one look at the message is enough. */
export class FieldReader {
  private readonly violations: string[];

  /** @param parent whose violations these are too */
  constructor(
    private readonly object: ConfigObject,
    parent?: FieldReader,
  ) {
    this.violations = parent?.violations ?? [];
  }

  /** The same, with `defaults` for fields that are not there; null stays null. */
  over(defaults: ConfigObject): FieldReader {
    return new FieldReader({ ...defaults, ...this.object }, this);
  }

  has(key: string): boolean {
    return (this.object[key] ?? null) !== null;
  }

  value(key: string): unknown {
    return this.object[key] ?? undefined;
  }

  positive(key: string, fallback?: number): number {
    const value = this.object[key] ?? fallback;
    if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= maxCount) return value;
    this.violations.push(
      value === undefined ? `${key} is missing` : `${key} must be a positive integer, found ${quote(value)}`,
    );
    return 1;
  }

  /** A number of layers or experts. */
  parts(key: string): number {
    const value = this.positive(key);
    if (value <= maxParts) return value;
    this.violations.push(`${key} is ${String(value)}, beyond ${String(maxParts)}`);
    return 1;
  }

  /** A finite number; null where there is none. */
  number(key: string): number | null {
    const value = this.object[key] ?? null;
    if (value === null || (typeof value === 'number' && Number.isFinite(value))) return value;
    this.violations.push(`${key} must be a number, found ${quote(value)}`);
    return null;
  }

  /** A number above 0; null where there is none. */
  positiveNumber(key: string): number | null {
    const value = this.number(key);
    if (value === null || value > 0) return value;
    this.violations.push(`${key} must be a positive number, found ${quote(value)}`);
    return null;
  }

  flag(key: string, fallback: boolean): boolean {
    const value = this.object[key] ?? fallback;
    if (typeof value === 'boolean') return value;
    this.violations.push(`${key} must be true or false, found ${quote(value)}`);
    return fallback;
  }

  /** The object in the field, empty where there is none. Its violations are gathered here. */
  child(key: string): FieldReader {
    const value = this.object[key] ?? {};
    if (!isObject(value)) this.violations.push(`${key} must be an object, found ${quote(value)}`);
    return new FieldReader(isObject(value) ? value : {}, this);
  }

  /** The list in the field; null where there is none. */
  list(key: string): readonly unknown[] | null {
    const value = this.object[key] ?? null;
    if (value === null || Array.isArray(value)) return value;
    this.violations.push(`${key} must be a list, found ${quote(value)}`);
    return null;
  }

  check(holds: boolean, violation: string): void {
    if (!holds && this.violations.length === 0) this.violations.push(violation);
  }

  finish(): void {
    if (this.violations.length === 0) return;
    throw new FailureError('CheckpointCorrupt', `config.json: ${this.violations.join('; ')}`);
  }
}

export function quote(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value).slice(0, 80);
}

export function unsupported(problem: string): FailureError {
  return new FailureError('UnsupportedArchitecture', `config.json: ${problem}`);
}
