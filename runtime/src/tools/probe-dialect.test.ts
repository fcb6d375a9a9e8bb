import { describe, expect, test } from '@jest/globals';
import { ChatTemplate } from '../tokens/chat-template.js';
import { Tokenizer } from '../tokens/tokenizer.js';
import { tokenizerJson } from '../tokens/tokenizer.fixture.js';
import { dialectOfParser } from './dialect.js';
import { probeDialect, type ProbedDialect } from './probe-dialect.js';

const vocabulary = (...markers: string[]): Tokenizer =>
  Tokenizer.fromJson(tokenizerJson(markers), 'tokenizer.json');
const qwen = vocabulary('<tool_call>', '</tool_call>');
const llama = vocabulary('<|python_tag|>');
const mistral = vocabulary('[TOOL_CALLS]');
const gemma = vocabulary('<|tool_call>', '<tool_call|>', '<|"|>');
const tekken = vocabulary('[TOOL_CALLS]', '[ARGS]', '[CALL_ID]');

const offer = '{% if tools %}Tools: {% for t in tools %}{{ t | tojson }}\n{% endfor %}{% endif %}';
/** @param call how the template writes one */
const templateOf = (call: string, about = offer): string =>
  `${about}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}` +
  `{% for c in m.tool_calls or [] %}${call}{% endfor %}<|end|>\n{% endfor %}`;

const name = '{{ c.function.name }}';
const given = '{{ c.function.arguments | tojson }}';
const parameters =
  '{% for k, v in c.function.arguments.items() %}<parameter={{ k }}>\n{{ v }}\n</parameter>\n{% endfor %}';

const calls = {
  hermes: `<tool_call>\n{"name": "${name}", "arguments": ${given}}\n</tool_call>`,
  list: `<tool_call>[{"name": "${name}", "arguments": ${given}}]</tool_call>`,
  xml: `<tool_call>\n<function=${name}>\n${parameters}</function>\n</tool_call>`,
  llama: `{"name": "${name}", "parameters": ${given}}`,
  glm: `<tool_call>${name}\n<arg_key>argument</arg_key>\n<arg_value>text</arg_value>\n</tool_call>`,
  glm47: `<tool_call>${name}<arg_key>argument</arg_key><arg_value>text</arg_value></tool_call>`,
  invoke: `<minimax:tool_call>\n<invoke name="${name}">\n<parameter name="argument">text</parameter>\n</invoke>\n</minimax:tool_call>`,
  seed: `<seed:tool_call>\n<function=${name}>\n${parameters}</function>\n</seed:tool_call>`,
  mistral: `[TOOL_CALLS] [{"name": "${name}", "arguments": ${given}, "id": "{{ c.id }}"}]`,
  mistralNamed: `[TOOL_CALLS]${name}[ARGS]${given}`,
  mistralWithId: `[TOOL_CALLS]${name}[CALL_ID]{{ c.id }}[ARGS]${given}`,
  nemotron: `<TOOLCALL>[{"name": "${name}", "arguments": ${given}}]</TOOLCALL>`,
  apriel: `<tool_calls>[{"name": "${name}", "arguments": ${given}, "id": "{{ c.id }}"}]</tool_calls>`,
  xlam: `{{ "\\n" }}[{"name": "${name}", "arguments": ${given}}]`,
  granite: `<|tool_call|>[{"name": "${name}", "arguments": ${given}}]`,
  miniMax: `<tool_calls>\n{"name": "${name}", "arguments": ${given}}\n</tool_calls>`,
  pythonic: `[${name}(argument="text")]`,
  gemma: `<|tool_call>call:${name}{argument:<|"|>text<|"|>}<tool_call|>`,
  functionGemma: `<start_function_call>call:${name}{argument:<escape>text<escape>}<end_function_call>`,
  functionary: `<function=${name}>${given}</function>`,
  deepSeek: `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${given}\n\`\`\`<｜tool▁call▁end｜>`,
  deepSeek31: `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${given}<｜tool▁call▁end｜>`,
};

const probe = (text: string, tokenizer: Tokenizer): Promise<ProbedDialect> => {
  const template = ChatTemplate.compile(text, {})!;
  return probeDialect({ render: (input) => Promise.resolve().then(() => template.render(input)) }, tokenizer);
};

test.each<[string, string, Tokenizer, object | null]>([
  [
    'Hermes',
    templateOf(calls.hermes),
    qwen,
    { kind: 'qwenJson', begin: { id: 267 }, end: { id: 268 }, bare: false },
  ],
  ['a list in the markers of Hermes', templateOf(calls.list), qwen, { kind: 'qwenJson' }],
  [
    'Hermes, whose markers are no tokens',
    templateOf(calls.hermes),
    vocabulary(),
    { begin: { text: '<tool_call>', id: null }, end: { text: '</tool_call>', id: null } },
  ],
  ['Qwen3-Coder', templateOf(calls.xml), qwen, { kind: 'qwenXml', begin: { id: 267 }, end: { id: 268 } }],
  [
    'Llama 3',
    templateOf(calls.llama),
    llama,
    { kind: 'llamaJson', begin: { id: 267 }, end: null, bare: true },
  ],
  ['Llama 3, without its marker', templateOf(calls.llama), vocabulary(), null],
  ['GLM, in the markers of Hermes', templateOf(calls.glm), qwen, { kind: 'glmXml', begin: { id: 267 } }],
  ['GLM, without line breaks', templateOf(calls.glm47), qwen, { kind: 'glmXml' }],
  ['Seed, with the functions of Qwen3-Coder', templateOf(calls.seed), qwen, { kind: 'seedXml' }],
  ['MiniMax M2', templateOf(calls.invoke), qwen, { kind: 'miniMaxXml', begin: { id: null } }],
  [
    'Mistral',
    templateOf(calls.mistral),
    mistral,
    { kind: 'mistralJson', begin: { id: 267 }, end: null, within: [] },
  ],
  ['Mistral, without its marker', templateOf(calls.mistral), llama, null],
  [
    'Mistral, with names before the arguments',
    templateOf(calls.mistralNamed),
    tekken,
    { kind: 'mistralNamed', begin: { id: 267 }, end: null, within: [{ id: 269 }, { id: 268 }] },
  ],
  [
    'Mistral, with ids before the arguments',
    templateOf(calls.mistralWithId),
    tekken,
    { kind: 'mistralNamed' },
  ],
  ['Mistral, with names and without its markers', templateOf(calls.mistralNamed), mistral, null],
  ['Nemotron', templateOf(calls.nemotron), qwen, { kind: 'nemotronJson', end: { text: '</TOOLCALL>' } }],
  ['Apriel', templateOf(calls.apriel), qwen, { kind: 'aprielJson', begin: { id: null } }],
  ['xLAM', templateOf(calls.xlam), llama, { kind: 'xlamJson', bare: true, begin: { id: null } }],
  ['Granite, with a list behind its own marker', templateOf(calls.granite), llama, null],
  ['MiniMax M1, whose objects are in no list', templateOf(calls.miniMax), qwen, { kind: 'miniMaxJson' }],
  ['Python', templateOf(calls.pythonic), llama, null],
  ['Functionary', templateOf(calls.functionary), llama, { kind: 'functionary', begin: { id: null } }],
  ['DeepSeek', templateOf(calls.deepSeek), qwen, { kind: 'deepSeek', begin: { id: null } }],
  [
    'Gemma 4',
    templateOf(calls.gemma),
    gemma,
    { kind: 'gemma', begin: { id: 267 }, end: { id: 268 }, within: [{ id: 269 }] },
  ],
  ['FunctionGemma', templateOf(calls.functionGemma), llama, { kind: 'functionGemma', begin: { id: null } }],
  ['DeepSeek, without a fence', templateOf(calls.deepSeek31), qwen, { kind: 'deepSeekBare' }],
])('finds the dialect of %s', async (_, template, tokenizer, expected) => {
  const { dialect, written, describedBy } = await probe(template, tokenizer);
  if (expected === null) expect(dialect).toBeNull();
  else expect(dialect).toMatchObject(expected);
  expect(describedBy).toBeNull();
  expect(written).toContain('called_function');
  expect(written).not.toContain('the result');
});

describe('a template that writes no calls', () => {
  const plain = '{% for m in messages %}{{ m.content }}{% endfor %}';
  const hermes = 'Write <tool_call>\n{"name": <function-name>, "arguments": <object>}\n</tool_call>.';
  const llamas = 'Respond with {"name": function name, "parameters": dictionary of its arguments}.';

  test.each<[string, string, Tokenizer, string | null]>([
    ['describes them, as Hermes', offer + hermes + plain, qwen, 'qwenJson'],
    ['describes them, as Llama', offer + llamas + plain, llama, 'llamaJson'],
    ['shows the tools alone', offer + plain, llama, null],
    ['shows no tools', hermes + plain, qwen, null],
    ['has a marker in a comment', `{# <tool_call> #}${offer}${plain}`, qwen, null],
    [
      'describes them, and refuses any',
      `${offer}${hermes}{% for m in messages %}{% if m.tool_calls %}{{ raise_exception("no") }}{% endif %}{% endfor %}`,
      qwen,
      'qwenJson',
    ],
    ['refuses tools', '{% if tools %}{{ raise_exception("no") }}{% endif %}', qwen, null],
  ])('and %s', async (_, template, tokenizer, kind) => {
    const { dialect, written } = await probe(template, tokenizer);
    expect([dialect?.kind ?? null, written]).toEqual([kind, null]);
  });
});

const noSystem =
  '{% for m in messages %}{% if m.role == "system" %}{{ raise_exception("no") }}{% endif %}{{ m.content }}{% endfor %}';

test.each<[string, string, 'system' | 'user' | null]>([
  ['that shows tools', templateOf(calls.pythonic), null],
  ['that shows none', templateOf('', ''), 'system'],
  ['that shows none, though it writes calls', templateOf(calls.hermes, ''), 'system'],
  [
    'that refuses tools',
    `{% if tools %}{{ raise_exception("no") }}{% endif %}${templateOf('', '')}`,
    'system',
  ],
  ['that refuses system messages too', noSystem, 'user'],
  [
    'that leaves system messages out',
    noSystem.replace('{{ raise_exception("no") }}', '{% continue %}'),
    'user',
  ],
])('who describes the tools of a template %s', async (_, template, role) => {
  const { dialect, describedBy } = await probe(template, qwen);
  expect([dialect, describedBy]).toEqual([null, role]);
});

test.each<[string, Tokenizer, string, string]>([
  ['mistral', tekken, '', 'mistralNamed'],
  ['mistral', mistral, '', 'mistralJson'],
  ['mistral', tekken, calls.mistral, 'mistralJson'],
  ['mistral', tekken, calls.hermes, 'mistralNamed'],
  ['llama3_json', vocabulary(), '', 'llamaJson'],
  ['qwen3_xml', qwen, calls.hermes, 'qwenXml'],
  ['gemma4', gemma, '', 'gemma'],
  ['functiongemma', gemma, '', 'functionGemma'],
])('the parser %s reads what template and vocabulary show', async (parser, tokenizer, written, kind) => {
  const { dialect } = await probe(templateOf(written), tokenizer);
  expect(dialectOfParser(parser, dialect, tokenizer)?.kind).toBe(kind);
});
