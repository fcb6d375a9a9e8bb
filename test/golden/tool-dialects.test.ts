// How public chat templates write calls of tools: each is found to be of its dialect, or of none that has a reader. Those of
// templates/public, for which it is also known who describes tools where a template shows none, and all others where
// CHAT_TEMPLATES names their folder (templates/README.md).

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { ChatTemplate } from '../../runtime/src/tokens/chat-template.js';
import { Tokenizer } from '../../runtime/src/tokens/tokenizer.js';
import { tokenizerJson } from '../../runtime/src/tokens/tokenizer.fixture.js';
import { probeDialect } from '../../runtime/src/tools/probe-dialect.js';

const publicFolder = fileURLToPath(new URL('templates/public', import.meta.url));
const folder = process.env['CHAT_TEMPLATES'] ?? publicFolder;
/** Whose message describes the tools where a template of templates/public shows none. */
const describers: Readonly<Record<string, 'system' | 'user'>> = {
  'HuggingFaceTB-SmolLM3-3B': 'system',
  'deepseek-ai-DeepSeek-R1-Distill-Qwen-32B': 'system',
  'deepseek-ai-DeepSeek-V3.1': 'system',
  'microsoft-Phi-3.5-mini-instruct': 'system',
  'vllm-dse_qwen2_vl': 'system',
};
const fileOf = (name: string): string => join(folder, `${name}.jinja`);
const isPublic = (name: string): boolean => existsSync(join(publicFolder, `${name}.jinja`));
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
  const { dialect, describedBy } = await probeDialect({ render }, tokenizer);
  expect(dialect?.kind ?? 'none').toBe(kind);
  if (isPublic(name)) expect(describedBy).toBe(describers[name] ?? null);
});
