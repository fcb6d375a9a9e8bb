// How public chat templates write calls of tools: each is found to be of its dialect, or of none that has a reader.
// CHAT_TEMPLATES: a folder with the templates of llama.cpp (models/templates) and of vLLM (examples; `vllm-` stands before
// their names), which belong to their authors and are no part of this project.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ChatTemplate } from '../../runtime/src/tokens/chat-template.js';
import { Tokenizer } from '../../runtime/src/tokens/tokenizer.js';
import { tokenizerJson } from '../../runtime/src/tokens/tokenizer.fixture.js';
import { probeDialect } from '../../runtime/src/tools/probe-dialect.js';

const folder = process.env['CHAT_TEMPLATES'];
const names = JSON.parse(
  readFileSync(new URL('templates/dialects.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, readonly string[]>>;
const tokenizer = Tokenizer.fromJson(
  tokenizerJson(['<tool_call>', '</tool_call>', '<|python_tag|>']),
  'tokenizer.json',
);
const specialTokens = { bos_token: '<s>', eos_token: '</s>' };

(folder === undefined ? describe.skip : describe)('public templates', () => {
  test.each(Object.entries(names).flatMap(([kind, all]) => all.map((name) => [name, kind] as const)))(
    '%s: %s',
    async (name, kind) => {
      const text = readFileSync(join(folder ?? '', `${name}.jinja`), 'utf8');
      const template = ChatTemplate.compile(text, specialTokens)!;
      const render = (input: Parameters<ChatTemplate['render']>[0]): Promise<string> =>
        Promise.resolve().then(() => template.render(input));
      const { dialect } = await probeDialect({ render }, tokenizer);
      expect(dialect?.kind ?? 'none').toBe(kind);
    },
  );
});
