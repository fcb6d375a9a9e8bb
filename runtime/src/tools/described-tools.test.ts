// What a template that knows no tools is given in place of tools, calls and results.

import { describe, expect, test } from '@jest/globals';
import { withToolsDescribed, type ToolDescription } from './described-tools.js';
import { begin, dialects, readPieces, type DialectName, type Read } from './tool-reader.fixture.js';

type Message = Readonly<Record<string, unknown>>;

const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
const line = '{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}';
const user = { role: 'user', content: 'x' };
const system = { role: 'system', content: 'Be brief.' };
const results = ['rain', '3:00'].map((content) => ({ role: 'tool', tool_call_id: 'c', content }));
const given = { text: 'a "b"\n<c>', count: 2, list: [1, 2.5], place: { x: 1 } };
const calls = [
  { id: 'c', type: 'function', function: { name: 'f', arguments: given } },
  { id: 'd', type: 'function', function: { name: 'ping', arguments: {} } },
];
const called = (content: string): Message => ({ role: 'assistant', content, tool_calls: calls });

const shown = (messages: readonly Message[], how: Partial<ToolDescription> = {}, tools?: readonly object[]) =>
  withToolsDescribed(
    { messages, tools: tools ?? null, kwargs: { a: 1 } },
    {
      kind: 'qwenJson',
      role: 'system',
      ...how,
    },
  );
const contentsOf = (messages: readonly Message[], how: Partial<ToolDescription> = {}): unknown[] =>
  shown(messages, how).messages.map(({ role, content }) => [role, content]);

describe('tools are described', () => {
  const described = (
    messages: readonly Message[],
    role: ToolDescription['role'],
  ): readonly (readonly [unknown, string])[] =>
    shown(messages, { role }, [tool]).messages.map(({ role: of, content }) => [of, content as string]);

  test('in a system message of their own, and given to the template nowhere else', () => {
    const { tools, kwargs, messages } = shown([user], {}, [tool]);
    expect([tools, kwargs]).toEqual([undefined, { a: 1 }]);
    expect(messages).toEqual([{ role: 'system', content: expect.stringMatching(/^# Tools\n/) }, user]);
    expect(messages[0]!['content']).toContain(`\n<tools>\n${line}\n</tools>\n`);
  });

  test("behind the client's system message", () => {
    const [first, second] = described([system, user], 'system');
    expect(first).toEqual(['system', expect.stringMatching(/^Be brief\.\n\n# Tools\n/)]);
    expect(second).toEqual(['user', 'x']);
  });

  test('in the place of an empty one', () => {
    const [first] = described([{ role: 'system', content: '' }, user], 'system');
    expect(first![1]).toMatch(/^# Tools\n/);
  });

  test('before what the user says first, where the template shows no system message', () => {
    const [first, second, third] = described([system, user, user], 'user');
    expect(first).toEqual(['system', 'Be brief.']);
    expect(second).toEqual(['user', expect.stringMatching(/^# Tools\n[^]*\n\nx$/)]);
    expect(third).toEqual(['user', 'x']);
  });

  test('to nobody but the model, where no user says anything', () => {
    const all = described([{ role: 'assistant', content: 'Hi' }], 'user');
    expect(all.map(([of]) => of)).toEqual(['user', 'assistant']);
  });

  test.each<[ToolDescription['kind'], string]>([
    ['qwenJson', '<tool_call>\n{"name": "NAME", "arguments": {"ARGUMENT": "VALUE"}}\n</tool_call>'],
    [
      'qwenXml',
      '<tool_call>\n<function=NAME>\n<parameter=ARGUMENT>\nVALUE\n</parameter>\n</function>\n</tool_call>',
    ],
    ['glmXml', '<tool_call>NAME\n<arg_key>ARGUMENT</arg_key><arg_value>VALUE</arg_value>\n</tool_call>'],
    [
      'miniMaxXml',
      '<minimax:tool_call>\n<invoke name="NAME">\n<parameter name="ARGUMENT">VALUE</parameter>\n</invoke>\n</minimax:tool_call>',
    ],
    ['llamaJson', '{"name": "NAME", "parameters": {"ARGUMENT": "VALUE"}}'],
    ['mistralNamed', '[TOOL_CALLS]NAME[ARGS]{"ARGUMENT": "VALUE"}'],
    ['nemotronJson', '<TOOLCALL>[{"name": "NAME", "arguments": {"ARGUMENT": "VALUE"}}]</TOOLCALL>'],
    ['xlamJson', '[{"name": "NAME", "arguments": {"ARGUMENT": "VALUE"}}]'],
    ['mistralJson', '[TOOL_CALLS][{"name": "NAME", "arguments": {"ARGUMENT": "VALUE"}}]'],
    [
      'deepSeek',
      '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME\n' +
        '```json\n{"ARGUMENT": "VALUE"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    ],
  ])('with calls in the form of %s', (kind, example) => {
    expect(shown([user], { kind }, [tool]).messages[0]!['content']).toContain(`\n${example}\n`);
  });
});

describe('a conversation without tools', () => {
  test('stays as it is', () => {
    const messages = [
      system,
      user,
      { role: 'assistant', content: 'Hi', reasoning_content: 'Hm' },
      user,
      user,
    ];
    expect(shown(messages).messages).toEqual(messages);
    expect(shown(messages, {}, []).messages).toEqual(messages);
  });
});

describe('earlier calls', () => {
  const expectCalls = ({ calls: read }: Read): void =>
    expect(read.map(({ name, arguments: text }) => [name, JSON.parse(text) as unknown])).toEqual([
      ['f', given],
      ['ping', {}],
    ]);

  const forms: readonly DialectName[] = [
    'spelled',
    'spelledXml',
    'spelledGlm',
    'spelledFunctionary',
    'spelledMiniMax',
    'spelledSeed',
    'llamaJson',
    'mistralNamed',
    'mistralJson',
    'spelledDeepSeek',
    'spelledNemotron',
    'aprielJson',
    'xlamJson',
    'spelledXlam',
    'gemma',
    'spelledFunctionGemma',
  ];

  test.each(forms.flatMap((dialect) => ['', 'I look.'].map((said) => [dialect, said] as const)))(
    'in the form of %s are read from the text behind %j as they were',
    (dialect, said) => {
      const { kind, begin: marker } = dialects[dialect];
      const { content, ...others } = shown([called(said)], { kind }).messages[0]!;
      expect(others).toEqual({ role: 'assistant' });
      const text = content as string;
      const read = readPieces(dialect, [marker.id === null ? text : text.replaceAll(marker.text, begin)]);
      expect(read.content).toBe(said);
      expectCalls(read);
    },
  );

  test('stand behind the text, spaced as models were trained on them', () => {
    expect(contentsOf([called('I look.')])).toEqual([
      [
        'assistant',
        'I look.\n' +
          '<tool_call>\n{"name": "f", "arguments": {"text": "a \\"b\\"\\n<c>", "count": 2, "list": [1, 2.5], "place": {"x": 1}}}\n</tool_call>\n' +
          '<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>',
      ],
    ]);
  });

  test.each<[ToolDescription['kind'], string]>([
    ['qwenJson', '<tool_call>\n{"name": "f", "arguments": "{\\"a"}\n</tool_call>'],
    ['qwenXml', '<tool_call>\n<function=f>\n{"a\n</function>\n</tool_call>'],
  ])('of %s whose arguments are no object keep them as a text', (kind, written) => {
    const broken = {
      role: 'assistant',
      content: '',
      tool_calls: [{ function: { name: 'f', arguments: '{"a' } }],
    };
    expect(contentsOf([broken], { kind })).toEqual([['assistant', written]]);
  });
});

describe('results', () => {
  const [rain, time] = ['rain', '3:00'].map((each) => `<tool_response>\n${each}\n</tool_response>`);

  test('are one message of the user, and what the user says behind them belongs to it', () => {
    const expected = [
      ['user', 'x'],
      ['assistant', expect.stringContaining('<tool_call>')],
    ];
    const conversation = [user, called(''), ...results];
    expect(contentsOf(conversation)).toEqual([...expected, ['user', `${rain!}\n${time!}`]]);
    expect(contentsOf([...conversation, user, user])).toEqual([
      ...expected,
      ['user', `${rain!}\n${time!}\nx`],
      ['user', 'x'],
    ]);
  });

  test('do not take up a message of the system or of the assistant', () => {
    const answer = { role: 'assistant', content: 'Rain.' };
    expect(contentsOf([...results.slice(0, 1), system, ...results.slice(1), answer])).toEqual([
      ['user', rain],
      ['system', 'Be brief.'],
      ['user', time],
      ['assistant', 'Rain.'],
    ]);
  });
});
