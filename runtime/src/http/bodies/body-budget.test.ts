import { describe, expect, test } from '@jest/globals';
import type { ApiError } from '../../request/body/api-error.js';
import { BodyBudget, bodyPaces, type HeldBody } from './body-budget.js';

const kib = 1024;
let now = 0;
const cut: string[] = [];

function budget(limitBytes: number, largestBytes = 100 * kib): BodyBudget {
  now = 0;
  cut.length = 0;
  return new BodyBudget(limitBytes, largestBytes, () => now);
}

/** A body that holds so many bytes. */
function body(of: BodyBudget, name: string, bytes: number, key: string | null = null): HeldBody {
  const held = of.open(key, ({ code }) => cut.push(`${name}: ${code}`));
  held.came(bytes);
  held.take(bytes);
  return held;
}

/** The code that taking so many bytes is refused with; null: it is not. */
function refusal(of: BodyBudget, bytes: number, key: string | null = null): string | null {
  try {
    body(of, 'refused', bytes, key);
    return null;
  } catch (error) {
    return (error as ApiError).code;
  }
}

describe('BodyBudget', () => {
  test('holds no more than its limit, and takes back what is released, once', () => {
    const all = budget(800 * kib);
    const first = body(all, 'first', 100 * kib);
    for (let i = 0; i < 6; i++) body(all, 'other', 100 * kib).arrived();
    expect(refusal(all, 100 * kib)).toBe('server_busy');
    first.release();
    first.release();
    expect(all.heldBytes).toBe(600 * kib);
    expect(refusal(all, 100 * kib)).toBeNull();
  });

  test('large bodies leave room for small ones', () => {
    const all = budget(800 * kib);
    while (refusal(all, 100 * kib) === null);
    expect(refusal(all, 4 * kib)).toBeNull();
  });

  test('always has room for one body of the largest size', () => {
    expect(refusal(budget(1), 100 * kib)).toBeNull();
  });

  test('a body that has stalled makes room for a newcomer, the largest first, and one that comes does not', () => {
    const all = budget(800 * kib);
    body(all, 'small', 50 * kib);
    body(all, 'large', 90 * kib);
    const coming = body(all, 'coming', 100 * kib);
    for (let i = 0; i < 4; i++) body(all, 'whole', 100 * kib).arrived();
    const { windowMs } = bodyPaces.underPressure;
    now = windowMs;
    coming.came(20 * kib);
    now = 2 * windowMs;
    expect(refusal(all, 100 * kib)).toBeNull();
    expect(cut).toEqual(['large: server_busy']);
    expect(refusal(all, 100 * kib)).toBeNull();
    expect(refusal(all, 100 * kib)).toBe('server_busy');
    expect(cut).toEqual(['large: server_busy', 'small: server_busy']);
  });

  test('a body that hardly comes is cut off, however much of it came at first', () => {
    const all = budget(800 * kib);
    const trickling = body(all, 'trickling', 100 * kib);
    const coming = body(all, 'coming', 100 * kib);
    const whole = body(all, 'whole', 100 * kib);
    whole.arrived();
    for (let second = 1; second <= 41; second++) {
      now = second * 1000;
      trickling.came(100);
      coming.came(1000);
      all.cutSlow();
    }
    expect(cut).toEqual(['trickling: request_timeout']);
    expect(all.heldBytes).toBe(200 * kib);
  });

  test('a key that floods leaves others a part', () => {
    const all = budget(800 * kib);
    while (refusal(all, 40 * kib, 'flood') === null);
    expect(refusal(all, 40 * kib, 'flood')).toBe('rate_limit_exceeded');
    for (let i = 0; i < 3; i++) expect(refusal(all, 40 * kib, `quiet-${String(i)}`)).toBeNull();
  });
});
