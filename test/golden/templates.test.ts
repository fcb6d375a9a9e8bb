// Chat templates against transformers: each construct of Jinja, the public templates in templates/public, and more of them
// where CHAT_TEMPLATES names their folder (templates/README.md).

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';

import { ChatTemplate, type ChatTemplateInput } from '../../runtime/src/tokens/chat-template.js';

interface Conversation {
  readonly messages: ChatTemplateInput['messages'];
  readonly tools?: readonly unknown[];
  readonly add_generation_prompt?: boolean;
  readonly enable_thinking?: boolean;
}
interface Expressions {
  readonly variables: Record<string, unknown>;
  readonly cases: readonly { readonly template: string; readonly text: string | null }[];
}
interface Public {
  readonly templates: Record<
    string,
    { readonly template: string; readonly renders: Record<string, string | null> }
  >;
}

const read = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`templates/${name}.json`, import.meta.url), 'utf8'));
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
const tokens = { bos_token: '<s>', eos_token: '</s>', unk_token: '<unk>', pad_token: '<pad>' };

beforeAll(() => {
  jest.useFakeTimers({ now: new Date(2026, 6, 4, 9, 5, 3) });
});
afterAll(() => {
  jest.useRealTimers();
});

/** Null: refused, at load or at the render. */
function rendered(
  template: string,
  input: ChatTemplateInput,
  specialTokens: Record<string, string>,
): string | null {
  try {
    return ChatTemplate.compile(template, specialTokens)?.render(input) ?? null;
  } catch {
    return null;
  }
}

test('renders each construct as the reference does, or refuses it as well', () => {
  const { variables, cases } = read('expressions') as Expressions;
  expect(cases.length).toBeGreaterThan(200);
  const made = cases.map(({ template }) => ({
    template,
    text: rendered(template, { messages: [], kwargs: variables }, {}),
  }));
  expect(made).toEqual(cases);
});

const conversations = Object.entries(read('conversations') as Record<string, Conversation>);
const { templates } = read('public') as Public;
const folders = [fileURLToPath(new URL('templates/public', import.meta.url))];
if (process.env['CHAT_TEMPLATES'] !== undefined) folders.push(process.env['CHAT_TEMPLATES']);
const files = folders.flatMap((folder) => readdirSync(folder).map((name) => ({ name, folder })));

test.each(files)('renders each conversation with $name as the reference does', ({ name, folder }) => {
  const text = readFileSync(join(folder, name), 'utf8');
  expect(digest(text)).toBe(templates[name]?.template);
  const made = conversations.map(([conversation, { messages, tools, add_generation_prompt, ...kwargs }]) => {
    const input = { messages, tools, addGenerationPrompt: add_generation_prompt, kwargs };
    const prompt = rendered(text, input, tokens);
    return [conversation, prompt === null ? null : digest(prompt)];
  });
  expect(Object.fromEntries(made)).toEqual(templates[name]?.renders);
});
