import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import type { ConfiguredKey } from '@llmservice/crds';
import { KeyBudget } from '@llmservice/crds/keys';
import { KnownKeys } from './known-keys.js';
import { RequestCharge } from './request-charge.js';

class Refused extends Error {}

const now = { steadyMs: 0, unixMs: 0, dayMs: 0 };
const limits = `tokensPerMinute: 1000, concurrency: 2`;

const configuredKeyOf = (limits: string): ConfiguredKey =>
  KnownKeys.read(`keys: [{ id: a, sha256: ${'ab'.repeat(32)}, ${limits} }]`).keys[0]!;

/** A budget of 1,000 tokens whose clock stands, and what is left of it. */
function budget(): { readonly budget: KeyBudget; readonly left: () => number | undefined } {
  const made = new KeyBudget(configuredKeyOf(limits), 1, now, () => new Refused());
  return { budget: made, left: () => made.rateLimit(now)?.remaining };
}
const answer = (headers: object, trailers: object = {}, statusCode = 200): IncomingMessage =>
  ({ statusCode, headers, trailers, complete: true }) as unknown as IncomingMessage;
const report = (prompt: number, completion: number, text = 0) => ({
  'x-llmservice-usage': `prompt=${String(prompt)}, completion=${String(completion)}, text=${String(text)}`,
});
const events = { 'content-type': 'text/event-stream; charset=utf-8' };

describe('a request', () => {
  test('pays ahead what its prompt takes at least, and in the end what it took', () => {
    const { budget: of, left } = budget();
    const charge = new RequestCharge(of, () => now, 100);
    expect(left()).toBe(900);
    charge.sent();
    const whole = answer(report(30, 20));
    charge.begun(whole);
    charge.ended(whole);
    charge.close();
    expect(left()).toBe(950);
    expect(charge).toMatchObject({ isEstimated: false, used: { promptTokens: 30, completionTokens: 20 } });
  });

  test('that streams pays a token for each event as it passes, before anything is reported of them', () => {
    const { budget: of, left } = budget();
    const charge = new RequestCharge(of, () => now, 1);
    charge.sent();
    const stream = answer({ ...events, ...report(10, 1) }, report(10, 50));
    charge.begun(stream);
    expect(left()).toBe(989);
    for (let i = 0; i < 5; i++) charge.passed(Buffer.from('data: {"a":1}\n\ndata: {"a":2}\n\n'));
    expect(left()).toBe(980);
    charge.ended(stream);
    charge.close();
    expect(left()).toBe(940);
  });

  test('whose report does not come pays for the events that passed', () => {
    const { budget: of, left } = budget();
    const charge = new RequestCharge(of, () => now, 1);
    charge.sent();
    const stream = answer({ ...events, ...report(10, 1) });
    charge.begun(stream);
    charge.passed(Buffer.from('data: a\n\ndata: b\n\ndata: c\n\n'));
    charge.ended(stream);
    charge.close();
    expect([left(), charge.isEstimated]).toEqual([987, true]);
  });

  test('to another engine pays what its answer says', () => {
    const { budget: of, left } = budget();
    const charge = new RequestCharge(of, () => now, 1);
    charge.sent();
    const whole = answer({ 'content-type': 'application/json' });
    charge.begun(whole);
    charge.passed(Buffer.from('{"choices":[],"usage":{"prompt_tokens":40,"completion_tokens":2}}'));
    charge.ended(whole);
    charge.close();
    expect([left(), charge.isEstimated]).toEqual([958, false]);
  });

  test('to another engine that was cut off pays for its events, whatever count its client had put into it', () => {
    const { budget: of, left } = budget();
    const charge = new RequestCharge(of, () => now, 100);
    charge.sent();
    const stream = answer(events);
    stream.complete = false;
    charge.begun(stream);
    const tools = '[{"parameters":{"usage":{"input_tokens":0,"output_tokens":0}}}]';
    charge.passed(Buffer.from(`data: {"tools":${tools}}\n\n${'data: {}\n\n'.repeat(49)}`));
    charge.ended(stream);
    charge.close();
    expect([left(), charge.isEstimated]).toEqual([850, true]);
  });

  test('that ends on another day gives that day nothing back', () => {
    const dayMs = 86_400_000;
    let at = { ...now };
    const key = configuredKeyOf('tokensPerDay: 1000');
    const of = new KeyBudget(key, 1, at, () => new Refused());
    const charge = new RequestCharge(of, () => at, 900);
    charge.sent();
    at = { steadyMs: dayMs, unixMs: dayMs, dayMs };
    of.spend(1_000, at);
    const whole = answer(report(10, 10));
    charge.begun(whole);
    charge.ended(whole);
    charge.close();
    expect(() => of.require(1, at)).toThrow(Refused);
  });

  test.each([
    ['that no service could be reached for', [], 1_000],
    ['that a service had no room for', ['sent', 'refused'], 1_000],
    ['that a service took and never answered', ['sent'], 900],
    ['that another engine refused', ['sent', 'begun'], 1_000],
  ] as const)('%s pays for what may have been computed alone', (_, steps, remaining) => {
    const { budget: of, left } = budget();
    const charge = new RequestCharge(of, () => now, 100);
    for (const step of steps) charge[step](answer({}, {}, 400));
    charge.close();
    expect(left()).toBe(remaining);
  });

  test('has a place until its end, and none where its prompt has no tokens', () => {
    const { budget: of } = budget();
    const charge = new RequestCharge(of, () => now, 900);
    expect(() => new RequestCharge(of, () => now, 900)).toThrow(Refused);
    const second = new RequestCharge(of, () => now, 1);
    expect(() => new RequestCharge(of, () => now, 1)).toThrow(Refused);
    charge.close();
    new RequestCharge(of, () => now, 1).close();
    second.close();
  });
});
