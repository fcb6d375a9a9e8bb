import { expect, test } from '@jest/globals';
import type { GatewayRecord } from '@llmservice/crds/accounting';
import { nothingUsed } from '@llmservice/crds/keys';
import { RouterAccounting, type EndedRequest } from './router-accounting.js';

const unixMs = Date.parse('2026-03-01T09:59:59.123Z');
const charge = { used: { promptTokens: 12, completionTokens: 5, textTokens: 0 }, isWhole: true };
const response = { statusCode: 200, writableFinished: true, destroyed: true };

function lineOf(change: Partial<EndedRequest>): GatewayRecord | undefined {
  const lines: GatewayRecord[] = [];
  const log = { add: (line: unknown) => void lines.push(line as GatewayRecord) };
  const accounting = new RouterAccounting(log, 'team/models', () => ({ steadyMs: 0, unixMs, dayMs: 0 }));
  const asked = { id: 'mine-1', key: 'a', path: '/v1/completions', model: 'one', generates: true };
  accounting.ended({ ...asked, charge, response, ...change });
  return lines[0];
}

test('a line has what a replica’s has, as far as a router knows it, and the gateway', () => {
  expect(lineOf({})).toEqual({
    ...{ time: '2026-03-01T09:59:59.123Z', id: 'mine-1', key: 'a', route: '/v1/completions', model: 'one' },
    ...{ promptTokens: 12, completionTokens: 5, textTokens: 0, finish: ['answered'], gateway: 'team/models' },
  });
});

test.each<[string, Partial<EndedRequest>, string[]]>([
  ['its client went', { response: { ...response, writableFinished: false } }, ['abort']],
  ['its service was cut off', { charge: { ...charge, isWhole: false } }, ['error']],
  ['its service failed', { response: { ...response, statusCode: 500 } }, ['error']],
  ['it only reads a text', { generates: false }, []],
])('a request says in it that %s', (_, change, finish) => {
  expect(lineOf(change)?.finish).toEqual(finish);
});

test('a request that took nothing has no line', () => {
  expect(lineOf({ charge: { used: nothingUsed, isWhole: true } })).toBeUndefined();
});
