// Tokenizer and chat template against the reference libraries, on the demo model's own files.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { beforeAll, describe, expect, test } from '@jest/globals';
import type { GgufValue } from '@llmservice/checkpoint';

import { readChatTemplate, readTokenizer } from '../../runtime/src/checkpoint/read-text-files.js';
import type { ChatTemplate } from '../../runtime/src/tokens/chat-template.js';
import { ggufTokenizerJson } from '../../runtime/src/tokens/gguf-tokenizer.js';
import { Tokenizer } from '../../runtime/src/tokens/tokenizer.js';

const checkpoint = fileURLToPath(new URL('../../deploy/demo-model/checkpoint', import.meta.url));

function golden<Case>(name: string): Case[] {
  const text = readFileSync(new URL(`${name}.json`, import.meta.url), 'utf8');
  return (JSON.parse(text) as { cases: Case[] }).cases;
}

interface TokenizerCase {
  readonly text: string;
  readonly ids: number[];
  readonly decoded: string;
  readonly decodedSkippingSpecial: string;
}

interface TemplateCase {
  readonly name: string;
  readonly messages: Record<string, unknown>[];
  readonly options: { readonly addGenerationPrompt: boolean; readonly enableThinking?: boolean };
  readonly rendered: string;
}

describe('tokenizer', () => {
  const cases = golden<TokenizerCase>('tokenizer');
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    tokenizer = await readTokenizer(checkpoint);
  });

  test('encodes every text as the reference does', async () => {
    expect(cases.length).toBeGreaterThan(200);
    for (const { text, ids } of cases) {
      const encoded = await tokenizer.encode(text, { addSpecialTokens: false });
      expect({ text, ids: [...encoded] }).toEqual({ text, ids });
    }
  });

  test('decodes every sequence as the reference does, with and without special tokens', () => {
    for (const { ids, decoded, decodedSkippingSpecial } of cases) {
      expect(tokenizer.decode(ids, { skipSpecialTokens: false })).toBe(decoded);
      expect(tokenizer.decode(ids, { skipSpecialTokens: true })).toBe(decodedSkippingSpecial);
    }
  });

  test('decodes token by token to the same text', () => {
    for (const { ids, decoded } of cases) {
      const detokenizer = tokenizer.detokenizer({ skipSpecialTokens: false });
      const pieces = ids.map((id) => detokenizer.push([id]));
      expect(pieces.join('') + detokenizer.flush()).toBe(decoded);
    }
  });
});

test('the same tokenizer, as a GGUF file has it, encodes as the reference does', async () => {
  const { model, added_tokens: added } = JSON.parse(readFileSync(`${checkpoint}/tokenizer.json`, 'utf8')) as {
    model: { vocab: Record<string, number>; merges: [string, string][] };
    added_tokens: { id: number; content: string; special: boolean }[];
  };
  const tokens = [...Object.entries(model.vocab), ...added.map(({ content, id }) => [content, id] as const)];
  const inOrder = tokens.sort(([, a], [, b]) => a - b).map(([token]) => token);
  const kinds = inOrder.map((_, id) => {
    const token = added.find((each) => each.id === id);
    return token === undefined ? 1 : token.special ? 3 : 4;
  });
  const values = new Map<string, GgufValue>([
    ['tokenizer.ggml.model', 'gpt2'],
    ['tokenizer.ggml.pre', 'qwen35'],
    ['tokenizer.ggml.tokens', inOrder],
    ['tokenizer.ggml.token_type', kinds],
    ['tokenizer.ggml.merges', model.merges.map((pair) => pair.join(' '))],
  ]);
  const json = ggufTokenizerJson({ file: 'model.gguf', values, tensors: [] });
  const tokenizer = Tokenizer.fromJson(json, 'model.gguf');
  for (const { text, ids, decodedSkippingSpecial } of golden<TokenizerCase>('tokenizer')) {
    const encoded = await tokenizer.encode(text, { addSpecialTokens: false });
    expect({ text, ids: [...encoded] }).toEqual({ text, ids });
    expect(tokenizer.decode(ids, { skipSpecialTokens: true })).toBe(decodedSkippingSpecial);
  }
});

describe('chat template', () => {
  let template: ChatTemplate;
  beforeAll(async () => {
    template = (await readChatTemplate(checkpoint))!;
  });

  test.each(golden<TemplateCase>('chat-template'))('$name', ({ messages, options, rendered }) => {
    const { addGenerationPrompt, enableThinking } = options;
    const kwargs = enableThinking === undefined ? {} : { enable_thinking: enableThinking };
    const input = { messages, addGenerationPrompt, kwargs };
    expect([template.render(input), template.renderBriefly(input)]).toEqual([rendered, rendered]);
  });
});
