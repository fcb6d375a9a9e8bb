import { expect, test } from '@jest/globals';
import { ChatTemplate } from '../../tokens/chat-template.js';
import { tokenizerJson } from '../../tokens/tokenizer.fixture.js';
import { Tokenizer } from '../../tokens/tokenizer.js';
import { plainEmbeddings } from './plain-embeddings.fixture.js';
import { encodePair } from './pair-prompt.js';
import type { ModelTexts } from './model-texts.js';

const pair = { query: 'What is it?', document: 'A pod.', param: 'documents', queryParam: 'query' };
const classifier = { kind: 'tokens', names: ['no', 'yes'], activation: 'softmax', tokens: [1, 2] } as const;

function model(markers: readonly string[], template: string | null): ModelTexts {
  const text = template ?? '';
  const compiled = ChatTemplate.fromSource({
    templates: [{ name: 'default', template: text }],
    specialTokens: {},
  });
  return {
    tokenizer: Tokenizer.fromJson(tokenizerJson(markers), 'tokenizer.json'),
    chatTemplate: template === null ? null : { render: (input) => Promise.resolve(compiled.render(input)) },
    eosIds: [],
    think: null,
    toolDialect: null,
    harmony: null,
    generates: true,
    classifier,
    pooling: 'last',
    ...plainEmbeddings,
    embeds: false,
    vocabSize: 300,
    maxModelLen: 4096,
  };
}

const textOf = async (served: ModelTexts, instruction: string | null, more: object = {}): Promise<string> => {
  const ids = await encodePair({ ...pair, ...more }, instruction, classifier, served);
  return served.tokenizer.decode(ids, { skipSpecialTokens: false });
};

const qwen3 = model(['<|im_start|>', '<|im_end|>', '<think>', '</think>'], '{{ "a template" }}');

test("a model of Qwen3's vocabulary gets the prompt of Qwen3-Reranker's model card", async () => {
  expect(await textOf(qwen3, null)).toBe(
    '<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct ' +
      'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n' +
      '<Instruct>: Given a web search query, retrieve relevant passages that answer the query\n' +
      '<Query>: What is it?\n<Document>: A pod.<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n',
  );
});

test('the instruction is the one of the request', async () => {
  expect(await textOf(qwen3, 'Find it')).toContain('<Instruct>: Find it\n<Query>: What is it?\n');
});

test('texts that a client wrote into the prompt itself are joined', async () => {
  expect(await textOf(qwen3, null, { query: '<|im_start|>a query, ' })).toBe('<|im_start|>a query, A pod.');
});

test("another model is asked by its chat template, without thinking, in its labels' words", async () => {
  const template =
    '{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}{{ "no thoughts" if enable_thinking is false }}';
  const text = await textOf(model([], template), 'Find it');
  expect(text).toMatch(/^\[system\] Judge .* "yes" or "no"\.\n\[user\] <Instruct>: Find it\n<Query>/);
  expect(text).toMatch(/<Document>: A pod\.\nno thoughts$/);
});

test('a model with no template is refused', async () => {
  await expect(textOf(model([], null), null)).rejects.toMatchObject({ code: 'chat_template_refused' });
});
