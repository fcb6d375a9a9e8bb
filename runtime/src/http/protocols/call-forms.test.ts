// Calls that models write in other forms than Qwen's: the same in every protocol, streamed or not, and with ids that the
// models' chat templates take back.

import { afterEach, describe, expect, test } from '@jest/globals';
import type { CallFormName } from '../../tools/call-forms.js';
import { events, json } from '../answers.fixture.js';
import { scriptOf } from '../call-script.fixture.js';
import { ScriptedServer } from '../scripted-server.fixture.js';
import { protocols } from './whole-answer.fixture.js';

let server: ScriptedServer;
afterEach(() => server.stop());

const { begin, args, callId } = ScriptedServer.mistral;
const qwen = ScriptedServer.markers;
const all = Object.keys(protocols) as (keyof typeof protocols)[];
const withCalls = { chat: 'tool_calls', responses: 'completed', messages: 'tool_use' } as const;

type Steps = readonly (string | number)[];

const inFence = (name: string, given: string): string =>
  `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${given}\n\`\`\`<｜tool▁call▁end｜>`;

/** Each of them says "I look." and calls two tools. */
const answers: readonly (readonly [name: string, form: CallFormName, steps: Steps])[] = [
  [
    'a list',
    'mistralJson',
    [begin, ' [{"name": "time", "argum', 'ents": {"city": "Bern"}}, {"name": "weather", "arguments": {}}]'],
  ],
  [
    'names before arguments',
    'mistralNamed',
    [begin, 'ti', 'me', args, '{"city": ', '"Bern"}', begin, 'weather', args, '{}'],
  ],
  [
    'names and ids before arguments',
    'mistralNamed',
    [begin, 'time', callId, 'abc123def', args, '{"city": "Bern"}', begin, 'weather', callId, 'x', args, '{}'],
  ],
  [
    'a list between markers',
    'nemotronJson',
    [
      '<TOOL',
      'CALL>[{"name": "time", "arguments": {"city": "Bern"}}, {"name": "weather", "argum',
      'ents": {}}]</TOOLCALL>',
    ],
  ],
  [
    'keys and values',
    'glmXml',
    [
      qwen.begin,
      'ti',
      'me\n<arg_key>city</arg_key>\n<arg_value>Be',
      'rn</arg_value>\n',
      qwen.end,
      qwen.begin,
      'weather',
      qwen.end,
    ],
  ],
  [
    'names and values in XML',
    'miniMaxXml',
    [
      '<minimax:tool_',
      'call>\n<invoke name="time">\n<parameter name="city">Bern</para',
      'meter>\n</invoke>\n<invoke name="weather">\n</invoke>\n</minimax:tool_call>',
    ],
  ],
  [
    'markers without fences',
    'deepSeekBare',
    [
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>ti',
      'me<｜tool▁sep｜>{"city": "Bern"}<｜tool▁call▁end｜>',
      '<｜tool▁call▁begin｜>weather<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ],
  ],
  [
    'functions and arguments',
    'functionary',
    ['<func', 'tion=time>{"city": "Be', 'rn"}</function><function=weather>{}</function>'],
  ],
  [
    'pairs',
    'gemma',
    [
      '<|tool_',
      'call>call:time{ci',
      'ty:<|"|>Be',
      'rn<|"|>}<tool_call|><|tool_call>call:weather{}<tool_call|>',
    ],
  ],
  [
    'a list in markers, behind text',
    'xlamJson',
    [
      qwen.begin,
      '[{"name": "time", "arguments": {"city": "Be',
      'rn"}}, {"name": "weather", "arguments": {}}]',
      qwen.end,
    ],
  ],
  [
    'fences',
    'deepSeek',
    [
      '<｜tool▁calls▁beg',
      `in｜>${inFence('time', '{"city": "Bern"}')}\n${inFence('weather', '{}')}`,
      '<｜tool▁calls▁end｜>',
    ],
  ],
];

describe.each(answers)('calls in %s (%s)', (_name, form, steps) => {
  test.each(all.flatMap((protocol) => [true, false].map((stream) => [protocol, stream] as const)))(
    'are read in %s, streamed: %s',
    async (protocol, stream) => {
      server = await ScriptedServer.start({ tools: form });
      server.script = scriptOf('I look.', ...steps);
      expect(await protocols[protocol](server, stream, 'auto')).toEqual({
        text: 'I look.',
        calls: ['time {"city":"Bern"}', 'weather {}'],
        ended: withCalls[protocol],
      });
    },
  );
});

test.each(all.flatMap((protocol) => [true, false].map((stream) => [protocol, stream] as const)))(
  'a list that is all of an answer is calls in %s, streamed: %s',
  async (protocol, stream) => {
    server = await ScriptedServer.start({ tools: 'xlamJson' });
    server.script = scriptOf('[{"name": "time", "argum', 'ents": {"city": "Bern"}}', ']');
    expect(await protocols[protocol](server, stream, 'auto')).toEqual({
      text: '',
      calls: ['time {"city":"Bern"}'],
      ended: withCalls[protocol],
    });
  },
);

describe('ids for templates that take nine letters and digits', () => {
  const tools = [{ type: 'function', function: { name: 'time', parameters: { type: 'object' } } }];
  const isShort = /^[A-Za-z0-9]{9}$/;
  const idOf = (call: object | undefined): unknown => (call as { readonly id?: unknown } | undefined)?.id;

  test('are what answers have, streamed and whole', async () => {
    server = await ScriptedServer.start({ tools: 'mistralNamed' });
    server.script = scriptOf(begin, 'time', args, '{}', begin, 'time', args, '{}');
    const whole = await json(await server.chat({ tools }));
    const calls = (whole.choices[0] as unknown as { message: { tool_calls: object[] } }).message.tool_calls;
    const chunks = await events(await server.chat({ tools, stream: true }));
    const streamed = chunks
      .flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.tool_calls ?? []))
      .flatMap((call) => idOf(call) ?? []);
    const ids = [...calls.map(idOf), ...streamed];
    expect(ids).toEqual(Array.from({ length: 4 }, () => expect.stringMatching(isShort)));
    expect(new Set(ids).size).toBe(4);
  });

  const call = (id: string): object => ({
    id,
    type: 'function',
    function: { name: 'time', arguments: '{}' },
  });

  test.each([
    ['mistralJson', 'call_0123456789abcdef', /^[0-9a-f]{9}$/],
    ['mistralNamed', 'toolu_01A09q90qw90lq917835lq9', /^[0-9a-f]{9}$/],
    ['mistralNamed', 'Abc123dEf', /^Abc123dEf$/],
    ['qwenJson', 'call_0123456789abcdef', /^call_0123456789abcdef$/],
  ] as const)('are made of those of other servers (%s, %s)', async (form, id, expected) => {
    server = await ScriptedServer.start({ tools: form });
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: null, tool_calls: [call(id)] },
      { role: 'tool', tool_call_id: id, content: '3' },
    ];
    const response = await server.post('/apply-template', { messages });
    const { prompt } = (await response.json()) as { readonly prompt: string };
    const [, shown] = /tool\((\w+)\):3/.exec(prompt) ?? [];
    expect(shown).toMatch(expected);
  });
});
