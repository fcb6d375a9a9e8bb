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
  /** With the words of gpt-4o. */
  readonly gpt4o: number[];
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

describe('a tokenizer as a GGUF file has it', () => {
  test.each([
    ['qwen35', 'ids'],
    ['gpt-4o', 'gpt4o'],
  ] as const)('encodes with the words of %s as the reference does', async (pre, wanted) => {
    const { model, added_tokens: added } = JSON.parse(
      readFileSync(`${checkpoint}/tokenizer.json`, 'utf8'),
    ) as {
      model: { vocab: Record<string, number>; merges: [string, string][] };
      added_tokens: { id: number; content: string; special: boolean }[];
    };
    const tokens = [
      ...Object.entries(model.vocab),
      ...added.map(({ content, id }) => [content, id] as const),
    ];
    const inOrder = tokens.sort(([, a], [, b]) => a - b).map(([token]) => token);
    const kinds = inOrder.map((_, id) => {
      const token = added.find((each) => each.id === id);
      return token === undefined ? 1 : token.special ? 3 : 4;
    });
    const tokenizer = ofGguf({
      ...{ model: 'gpt2', pre, tokens: inOrder, token_type: kinds },
      merges: model.merges.map((pair) => pair.join(' ')),
    });
    for (const { text, decodedSkippingSpecial, ...ids } of golden<TokenizerCase>('tokenizer')) {
      const encoded = await tokenizer.encode(text, { addSpecialTokens: false });
      expect({ text, ids: [...encoded] }).toEqual({ text, ids: ids[wanted] });
      if (wanted === 'ids')
        expect(tokenizer.decode(ids.ids, { skipSpecialTokens: true })).toBe(decodedSkippingSpecial);
    }
  });

  interface SentencePieces {
    readonly addSpacePrefix: boolean;
    readonly tokens: string[];
    readonly scores: number[];
    readonly kinds: number[];
    readonly cases: { readonly text: string; readonly ids: number[]; readonly decoded: string }[];
  }

  const sentencePieces = JSON.parse(
    readFileSync(new URL('sentence-pieces.json', import.meta.url), 'utf8'),
  ) as { readonly tokenizers: SentencePieces[] };

  test.each(sentencePieces.tokenizers)(
    'is SentencePiece’s where add_space_prefix is $addSpacePrefix',
    async ({ addSpacePrefix, tokens, scores, kinds, cases }) => {
      const tokenizer = ofGguf({
        ...{ model: 'llama', pre: 'default', tokens, scores, token_type: kinds },
        ...{ add_space_prefix: addSpacePrefix, unknown_token_id: 0, bos_token_id: 1, eos_token_id: 2 },
      });
      for (const { text, ids, decoded } of cases) {
        const encoded = await tokenizer.encode(text, { addSpecialTokens: false });
        expect({ text, ids: [...encoded] }).toEqual({ text, ids });
        expect(tokenizer.decode(ids, { skipSpecialTokens: true })).toBe(decoded);
      }
      expect((await tokenizer.encode('a', { addSpecialTokens: true }))[0]).toBe(1);
    },
  );

  function ofGguf(keys: Readonly<Record<string, GgufValue>>): Tokenizer {
    const values = new Map(
      Object.entries(keys).map(([key, value]) => [`tokenizer.ggml.${key}`, value] as const),
    );
    return Tokenizer.fromJson(ggufTokenizerJson({ file: 'model.gguf', values, tensors: [] }), 'model.gguf');
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
