// Structured output that takes minutes or gigabytes to compile, as one client asks for it.

import { once } from 'node:events';
import { post, type Attack, type AttackTarget } from './attack.js';

const names = (count: number, prefix: string): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${String(i)}`);
const properties = (count: number, prefix = 'p'): object =>
  Object.fromEntries(names(count, prefix).map((name) => [name, { type: 'string' }]));

/** Compiles for minutes; known to, and refused unseen. */
export const knownBomb = { type: 'object', properties: properties(400), minProperties: 200 };

/** A pattern whose repetitions can come about in many ways: 5 s each, for 16 a quarter of one. @param salt makes it another one */
const ambiguous = (salt: number, most = 64): object => ({
  type: 'string',
  pattern: `^([a-z]{1,${String(most)}}[ .]?){1,${String(most)}}${String(salt)}$`,
});

/**
 * Takes a quarter of a second to compile: a hundred times what a choice takes, enough to be seen, and little enough for a
 * process of low priority to have it in the time that it may take on a busy machine.
 */
export const slowConstraint = (salt: number): object => ({
  type: 'object',
  properties: { a: ambiguous(salt, 16) },
});

/** Takes a minute of processor time. */
export const timeBomb = (salt: number): object => ({
  type: 'object',
  properties: Object.fromEntries(names(12, 'p').map((name, i) => [name, ambiguous(100 * salt + i)])),
});

/** Takes a gigabyte. */
export const memoryBomb = (salt: number): object => ({
  type: 'array',
  prefixItems: names(20, `p${String(salt)}_`).map((name) => ({
    type: 'object',
    properties: properties(100, name),
    minProperties: 1,
  })),
});

export interface Answer {
  readonly status: number;
  readonly error: { readonly code: string; readonly message: string; readonly param?: string | null } | null;
  readonly content: string | null;
}

/** Asks for structured output. */
export async function askFor(
  format: object,
  target: Pick<AttackTarget, 'port' | 'headers' | 'over'>,
): Promise<Answer> {
  const response = await post(target, '/v1/chat/completions', {
    messages: [{ role: 'user', content: 'yes or no?' }],
    reasoning_effort: 'none',
    max_completion_tokens: 40,
    ...format,
  });
  const body = (await response.json()) as {
    readonly error?: Answer['error'];
    readonly choices?: readonly { readonly message: { readonly content: string } }[];
  };
  return {
    status: response.status,
    error: body.error ?? null,
    content: body.choices?.[0]?.message.content ?? null,
  };
}

/** A bomb is refused for its own sake or, behind others, for want of a turn. */
async function sendBomb(format: object, target: AttackTarget): Promise<void> {
  const answer = askFor({ guided_json: format }, target).catch((error: unknown) => {
    if (target.over.aborted) return null;
    throw error;
  });
  const ended = await answer;
  const code = ended?.error?.code;
  if (ended !== null && ![400, 429, 503].includes(ended.status))
    throw new Error(`structured output that cannot be compiled: ${String(ended.status)} ${String(code)}`);
}

export const grammarAttacks: readonly Attack[] = [
  { name: 'a schema known to explode', run: (target) => sendBomb(knownBomb, target) },
  {
    name: 'a schema that takes minutes',
    run: (target) => sendBomb(timeBomb(target.random(1_000_000)), target),
  },
  {
    name: 'a schema that takes gigabytes',
    run: (target) => sendBomb(memoryBomb(target.random(1_000_000)), target),
  },
  {
    name: 'a schema that takes minutes, and a client that leaves',
    run: async (target) => {
      const left = new AbortController();
      target.over.addEventListener('abort', () => left.abort());
      const asked = sendBomb(timeBomb(target.random(1_000_000)), { ...target, over: left.signal });
      const timer = setTimeout(() => left.abort(), 500 + target.random(1000));
      if (!left.signal.aborted) await Promise.race([once(left.signal, 'abort'), asked]);
      clearTimeout(timer);
      await asked;
    },
  },
];
