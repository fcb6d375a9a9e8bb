// Attacks by the text of requests: what takes a tokenizer much time or memory, or ends the process that it is in.

import { gzipSync } from 'node:zlib';
import { charactersOf, nastyText } from '../../runtime/src/tokens/nasty-texts.fixture.js';
import { post, type Attack, type AttackTarget } from './attack.js';

interface Refusal {
  readonly error?: { readonly code?: string; readonly message?: string };
}

/** Of a body, which may have 16 MiB. */
const maxChars = 15_000_000;
/** What a server may say that is asked for more than it does at once. */
const busy = new Set([429, 503]);

function postPacked(
  target: AttackTarget,
  path: string,
  body: object,
  signal: AbortSignal = target.over,
): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const packed = Uint8Array.from(gzipSync(JSON.stringify(body), { level: 1 }));
  return post(target, path, packed, { headers, signal });
}

/** @throws Error when the answer is neither this refusal nor that the server is busy */
async function expectRefusal(response: Response, code: string): Promise<void> {
  const { error } = (await response.json()) as Refusal;
  if (busy.has(response.status)) return;
  if (response.status !== 400 || error?.code !== code)
    throw new Error(`${String(response.status)} ${String(error?.code)}: ${String(error?.message)}`);
}

const chatOf = (content: string): object => ({ messages: [{ role: 'user', content }], max_tokens: 1 });

/** Of the routes that take text, with it in the place that each has for it. */
const routes: readonly ((text: string) => readonly [path: string, body: object])[] = [
  (text) => ['/v1/chat/completions', chatOf(text)],
  (text) => ['/v1/completions', { prompt: text, max_tokens: 1 }],
  (text) => ['/v1/messages', chatOf(text)],
  (text) => ['/v1/messages/count_tokens', { messages: [{ role: 'user', content: text }] }],
  (text) => ['/v1/responses', { input: text, max_output_tokens: 16 }],
  (text) => ['/v1/embeddings', { input: text }],
  (text) => ['/tokenize', { prompt: text }],
  (text) => ['/apply-template', { messages: [{ role: 'user', content: text }] }],
];

/** It passes the retry limit of the pattern library, which ends the process. */
const spaces = `x${' '.repeat(11_000_000)}x`;

export const textAttacks: readonly Attack[] = [
  {
    name: 'eleven million spaces in a chat',
    run: async (target) => {
      await expectRefusal(
        await postPacked(target, '/v1/chat/completions', chatOf(spaces)),
        'context_length_exceeded',
      );
    },
  },
  {
    name: 'eleven million spaces to be counted',
    run: async (target) => {
      const body = { messages: [{ role: 'user', content: spaces }] };
      const response = await postPacked(target, '/v1/messages/count_tokens', body);
      if (!busy.has(response.status) && response.status !== 400) throw new Error(String(response.status));
      await response.arrayBuffer();
    },
  },
  {
    name: 'fifteen million letters to be counted, by a client that leaves',
    run: async (target) => {
      const body = { messages: [{ role: 'user', content: 'a'.repeat(maxChars) }] };
      const leaving = AbortSignal.any([AbortSignal.timeout(2000), target.over]);
      await postPacked(target, '/v1/messages/count_tokens', body, leaving).catch((error: unknown) => {
        if (!leaving.aborted) throw error;
      });
    },
  },
  {
    name: 'sixteen megabytes of one Unicode category',
    run: async (target) => {
      const { random } = target;
      const categories = [...charactersOf.values()].filter(({ length }) => length > 0);
      const characters = categories[random(categories.length)] ?? ['a'];
      const bytes = Buffer.byteLength(JSON.stringify(characters.join('')));
      const text = characters.join('').repeat(Math.floor(maxChars / bytes));
      const [path, body] = routes[random(routes.length)]?.(text) ?? ['/tokenize', {}];
      await expectAnswer(await postPacked(target, path, body));
    },
  },
  {
    name: 'a nasty text',
    run: async (target) => {
      const { random } = target;
      const text = nastyText(random, 200_000);
      const [path, body] = routes[random(routes.length)]?.(text) ?? ['/tokenize', {}];
      await expectAnswer(await postPacked(target, path, body));
    },
  },
];

/** Any but one that reports a fault of the server. */
async function expectAnswer(response: Response): Promise<void> {
  const text = await response.text();
  if (response.status >= 500 && response.status !== 503)
    throw new Error(`${String(response.status)} ${text.slice(0, 300)}`);
}
