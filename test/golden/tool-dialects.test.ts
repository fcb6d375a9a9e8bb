// How public chat templates write calls of tools: each is found to be of its dialect, or of none that has a reader. Those of
// templates/public, and all others where CHAT_TEMPLATES names their folder (templates/README.md).

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { ChatTemplate } from '../../runtime/src/tokens/chat-template.js';
import { Tokenizer } from '../../runtime/src/tokens/tokenizer.js';
import { tokenizerJson } from '../../runtime/src/tokens/tokenizer.fixture.js';
import { probeDialect } from '../../runtime/src/tools/probe-dialect.js';

const folder = process.env['CHAT_TEMPLATES'] ?? fileURLToPath(new URL('templates/public', import.meta.url));
const fileOf = (name: string): string => join(folder, `${name}.jinja`);
const names = JSON.parse(
  readFileSync(new URL('templates/dialects.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, readonly string[]>>;
const tokenizer = Tokenizer.fromJson(
  tokenizerJson(['<tool_call>', '</tool_call>', '<|python_tag|>', '[TOOL_CALLS]', '[ARGS]']),
  'tokenizer.json',
);
const specialTokens = { bos_token: '<s>', eos_token: '</s>' };

const cases = Object.entries(names).flatMap(([kind, all]) => all.map((name) => [name, kind] as const));

test.each(cases.filter(([name]) => existsSync(fileOf(name))))('%s: %s', async (name, kind) => {
  const template = ChatTemplate.compile(readFileSync(fileOf(name), 'utf8'), specialTokens)!;
  const render = (input: Parameters<ChatTemplate['render']>[0]): Promise<string> =>
    Promise.resolve().then(() => template.render(input));
  const { dialect } = await probeDialect({ render }, tokenizer);
  expect(dialect?.kind ?? 'none').toBe(kind);
});
