// Typed reading of config.json's fields.

import { FailureError } from '@llmservice/crds';

export type ConfigObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is ConfigObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Several times what any model has. */
const mostParts = 10_000;

/** Reads numbers and gathers every violation, so that one look at the message is enough. */
export class FieldReader {
  private readonly violations: string[] = [];
  constructor(private readonly object: ConfigObject) {}

  has(key: string): boolean {
    return (this.object[key] ?? null) !== null;
  }

  positive(key: string, fallback?: number): number {
    const value = this.object[key] ?? fallback;
    if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
    this.violations.push(
      value === undefined ? `${key} is missing` : `${key} must be a positive integer, found ${quote(value)}`,
    );
    return 1;
  }

  /** Layers or experts: there is something in memory for each, before it is known whether there are weights for it. */
  count(key: string): number {
    const value = this.positive(key);
    if (value <= mostParts) return value;
    this.violations.push(`${key} is ${String(value)}, beyond ${String(mostParts)}`);
    return 1;
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
