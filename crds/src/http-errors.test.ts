// Replicas and the activator refuse alike: what OpenAI's and Anthropic's clients read of a code follows from its status.

import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { activatorErrors, anthropicErrorType, replicaErrors } from './http-errors.js';

const rows = Object.entries({ ...replicaErrors, ...activatorErrors });

test.each(rows)('%s: its type is of its status', (_, { status, type }) => {
  if (status >= 500) expect(type).toBe('server_error');
  else expect(type === 'rate_limit_error').toBe(status === 429);
});

test.each([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [429, 'rate_limit_error'],
  [431, 'invalid_request_error'],
  [502, 'api_error'],
  [503, 'overloaded_error'],
])('Anthropic’s clients read %d as %s', (status, type) => {
  expect(anthropicErrorType(status)).toBe(type);
});

test('deploy/docs/clients.md has Anthropic’s types as they are', () => {
  const page = readFileSync(new URL('../../deploy/docs/clients.md', import.meta.url), 'utf8');
  const shown = [...page.matchAll(/^\| (\d{3}) \| `(\w+)` \|$/gm)].map(([, status, type]) => [status, type]);
  expect(shown.length).toBe(8);
  for (const [status, type] of shown)
    expect([status, anthropicErrorType(Number(status))]).toEqual([status, type]);
});
