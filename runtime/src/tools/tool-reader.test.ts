// The corpus of answers that are easily misread: each is read alike whole, cut in two at every place, and in single
// characters.

import { describe, expect, test } from '@jest/globals';
import { begin, end, readPieces, type DialectName, type Read } from './tool-reader.fixture.js';

interface Case {
  readonly dialects: readonly DialectName[];
  readonly answer: string;
  /** Default: empty. */
  readonly content?: string;
  /** Name and text of the arguments of each. */
  readonly calls: readonly (readonly [string, string])[];
  readonly options?: { readonly cut?: boolean; readonly parallel?: boolean };
  /** Default: with calls. */
  readonly asksForCalls?: boolean;
}

/** In Qwen's words, for vocabularies with the markers and without. */
const spelled = (answer: string): string =>
  answer.replaceAll(begin, '<tool_call>').replaceAll(end, '</tool_call>');

const json = (name: string, text: string): string =>
  `${begin}\n{"name": "${name}", "arguments": ${text}}\n${end}`;
const xml = (name: string, parameters: Readonly<Record<string, string>>): string => {
  const all = Object.entries(parameters).map(
    ([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`,
  );
  return `${begin}\n<function=${name}>\n${all.join('')}</function>\n${end}`;
};

const qwen = ['qwenJson', 'spelled'] as const;
const coder = ['qwenXml', 'spelledXml'] as const;
const fifty = Array.from({ length: 50 }, (_, i) => i);

const corpus: Readonly<Record<string, Case>> = {
  'no call': {
    dialects: [...qwen, ...coder],
    answer: ' Hi, \n there \n',
    content: ' Hi, \n there \n',
    calls: [],
  },
  'one call': { dialects: qwen, answer: json('f', '{"text": "x"}'), calls: [['f', '{"text": "x"}']] },
  'one call in XML': { dialects: coder, answer: xml('f', { text: 'x' }), calls: [['f', '{"text":"x"}']] },
  'one call of Llama': {
    dialects: ['llamaJson'],
    answer: ' {"name": "f", "parameters": {"text": "x"}}',
    content: '',
    calls: [['f', '{"text": "x"}']],
  },
  'a call of Llama behind its marker': {
    dialects: ['llamaJson'],
    answer: `${begin}{"name": "f", "parameters": {"text": "x"}}`,
    calls: [['f', '{"text": "x"}']],
  },
  'several calls of Llama': {
    dialects: ['llamaJson'],
    answer:
      '{"name": "ping", "parameters": {}}; {"type": "function", "name": "f", "parameters": {"count": 1}}',
    calls: [
      ['ping', '{}'],
      ['f', '{"count": 1}'],
    ],
  },
  'an object of Llama that names no tool': {
    dialects: ['llamaJson'],
    answer: '{"name": "Bob", "parameters": {"age": 3}}\nis Bob',
    content: '{"name": "Bob", "parameters": {"age": 3}}\nis Bob',
    calls: [],
  },
  'an object of Llama behind prose': {
    dialects: ['llamaJson'],
    answer: 'So: {"name": "f", "parameters": {}}',
    content: 'So: {"name": "f", "parameters": {}}',
    calls: [],
  },
  'several calls of Llama behind one marker': {
    dialects: ['llamaJson'],
    answer: `${begin}{"name": "ping", "parameters": {}}; {"name": "f", "parameters": {"count": 1}}`,
    calls: [
      ['ping', '{}'],
      ['f', '{"count": 1}'],
    ],
  },
  'text behind a call of Llama that has its marker': {
    dialects: ['llamaJson'],
    answer: `${begin}{"name": "ping", "parameters": {}} and text`,
    content: 'and text',
    calls: [['ping', '{}']],
  },
  'the first call of Llama alone behind its marker, where several are not wanted': {
    dialects: ['llamaJson'],
    answer: `${begin}{"name": "ping", "parameters": {}}; {"name": "f", "parameters": {}}`,
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'code of Llama behind its marker': {
    dialects: ['llamaJson'],
    answer: `${begin}print({"a": 1})`,
    content: 'print({"a": 1})',
    calls: [],
  },
  'a marker quoted in prose': {
    dialects: ['qwenJson', 'qwenXml'],
    answer: 'Write <tool_call>{"name": "f", "arguments": {}}</tool_call> to call.',
    content: 'Write <tool_call>{"name": "f", "arguments": {}}</tool_call> to call.',
    calls: [],
  },
  'a marker quoted in arguments': {
    dialects: ['qwenJson'],
    answer: json('f', '{"text": "</tool_call> }} <tool_call>"}'),
    calls: [['f', '{"text": "</tool_call> }} <tool_call>"}']],
  },
  'a marker quoted in prose of a vocabulary without it, when no call follows': {
    dialects: ['spelled', 'spelledXml'],
    answer: 'The <tool_call> tag, <tool',
    content: 'The <tool_call> tag, <tool',
    calls: [],
  },
  'a call in XML without its begin marker': {
    dialects: coder,
    answer: `Let me see.\n\n<function=f>\n<parameter=count>\n1\n</parameter>\n</function>\n${end}\n`,
    content: 'Let me see.',
    calls: [['f', '{"count":1}']],
  },
  'calls in XML without markers, and text behind them': {
    dialects: coder,
    answer:
      '<function=ping>\n</function>\n<function=f>\n<parameter=text>\n<a>\n</parameter>\n</function>\nSo.',
    content: 'So.',
    calls: [
      ['ping', '{}'],
      ['f', '{"text":"<a>"}'],
    ],
  },
  'the first call in XML without markers, where several are not wanted': {
    dialects: coder,
    answer: '<function=ping></function>\n<function=ping></function> x',
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'a call in XML behind one without its begin marker': {
    dialects: coder,
    answer: `<function=ping>\n</function>\n${end}\n${xml('f', { text: 'x' })}`,
    calls: [
      ['ping', '{}'],
      ['f', '{"text":"x"}'],
    ],
  },
  'functions in XML that are no tools, or within a line': {
    dialects: coder,
    answer: 'Write <function=ping></function>, or\n<function=other>\n</function>\n <function=',
    content: 'Write <function=ping></function>, or\n<function=other>\n</function>\n <function=',
    calls: [],
  },
  'an end marker alone': {
    dialects: [...qwen, ...coder],
    answer: `a ${end} b`,
    content: 'a </tool_call> b',
    calls: [],
  },
  'text before, between and after': {
    dialects: qwen,
    answer: `Let me see.\n${json('ping', '{}')}\nAnd also \n${json('ping', '{}')}\n\nDone. \n`,
    content: 'Let me see.\n\nAnd also \n\n\nDone.',
    calls: [
      ['ping', '{}'],
      ['ping', '{}'],
    ],
  },
  'text after alone': {
    dialects: qwen,
    answer: `${json('ping', '{}')}\n Done`,
    content: 'Done',
    calls: [['ping', '{}']],
  },
  'fifty calls': {
    dialects: qwen,
    answer: fifty.map((i) => json('f', `{"count": ${String(i)}}`)).join('\n'),
    calls: fifty.map((i) => ['f', `{"count": ${String(i)}}`]),
  },
  'fifty calls in XML': {
    dialects: coder,
    answer: fifty.map((i) => xml('f', { count: String(i) })).join('\n'),
    calls: fifty.map((i) => ['f', `{"count":${String(i)}}`]),
  },
  'several functions in one block': {
    dialects: coder,
    answer: `${begin}<function=ping></function>\n<function=f><parameter=count>1</parameter></function>${end}`,
    calls: [
      ['ping', '{}'],
      ['f', '{"count":1}'],
    ],
  },
  'several objects in one block': {
    dialects: qwen,
    answer: `${begin}{"name": "ping"}}\n{"arguments": {"count": 1}, "name": "f"}; {"name": "f", "arguments": "{}"}${end}`,
    calls: [
      ['ping', '{}'],
      ['f', '{"count": 1}'],
      ['f', '{}'],
    ],
  },
  'the first object alone, where several are not wanted': {
    dialects: qwen,
    answer: `${begin}{"name": "ping"}\n{"name": "f"}${end} and text`,
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'the first call alone, where several are not wanted': {
    dialects: qwen,
    answer: `${json('ping', '{}')}\n${json('f', '{}')} and text`,
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'the first function alone, where several are not wanted': {
    dialects: coder,
    answer: `${begin}<function=ping></function><function=f></function>${end}${xml('f', {})}`,
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'a call that another begins in': {
    dialects: ['qwenJson'],
    answer: `${begin}{"name": "f", "arguments": {"text": "x", ${json('ping', '{}')}`,
    calls: [
      ['f', '{"text": "x", '],
      ['ping', '{}'],
    ],
  },
  'a begin marker in a text of the arguments': {
    dialects: ['qwenJson'],
    answer: json('f', `{"text": "a ${begin} c"}`) + json('ping', '{}'),
    calls: [
      ['f', '{"text": "a <tool_call> c"}'],
      ['ping', '{}'],
    ],
  },
  'a begin marker in a value in XML': {
    dialects: ['qwenXml'],
    answer: xml('f', { text: `a ${begin} c` }),
    calls: [['f', '{"text":"a <tool_call> c"}']],
  },
  'a begin marker of Llama in a text of the arguments': {
    dialects: ['llamaJson'],
    answer: `{"name": "f", "parameters": {"text": "a ${begin} c"}}`,
    calls: [['f', '{"text": "a <|python_tag|> c"}']],
  },
  'no arguments': { dialects: qwen, answer: `${begin}{"name": "ping"}${end}`, calls: [['ping', '{}']] },
  'null and empty arguments': {
    dialects: qwen,
    answer: json('ping', 'null') + json('ping', '""') + json('ping', '{}'),
    calls: [
      ['ping', '{}'],
      ['ping', '{}'],
      ['ping', '{}'],
    ],
  },
  'no parameters in XML': { dialects: coder, answer: xml('ping', {}), calls: [['ping', '{}']] },
  'arguments as a string': {
    dialects: qwen,
    answer: json('f', '"{\\"text\\": \\"\\u00e9\\"}"'),
    calls: [['f', '{"text": "\u00e9"}']],
  },
  'arguments before the name, among other keys': {
    dialects: qwen,
    answer: `${begin}{"arguments": {"a": [1, {}]}, "id": {"name": "x"}, "n": -1.5e3, "name": "f"}${end}`,
    calls: [['f', '{"a": [1, {}]}']],
  },
  'unicode and escapes': {
    dialects: qwen,
    answer: json('f', '{"text": "\\"\\\\ \\u4f60 好 \u{1f600} \\n }{ ]["}'),
    calls: [['f', '{"text": "\\"\\\\ \\u4f60 好 \u{1f600} \\n }{ ]["}']],
  },
  'line breaks in strings, which JSON does not have': {
    dialects: qwen,
    answer: json('f', '{"text": "a\nb\tc"}'),
    calls: [['f', '{"text": "a\\nb\\tc"}']],
  },
  'nested objects': {
    dialects: qwen,
    answer: json('f', '{"a": {"b": [[{"c": {}}], []]}, "d": "}"}'),
    calls: [['f', '{"a": {"b": [[{"c": {}}], []]}, "d": "}"}']],
  },
  'unicode, quotes and markup in XML': {
    dialects: coder,
    answer: xml('f', { text: '\n<b a="1">好 \u{1f600}</b>\\ </parameter \n</functio\n' }),
    calls: [['f', JSON.stringify({ text: '\n<b a="1">好 \u{1f600}</b>\\ </parameter \n</functio\n' })]],
  },
  'types by the schema': {
    dialects: coder,
    answer: xml('f', {
      count: '42',
      ratio: '1',
      flag: 'True',
      list: '[1,\n 2]',
      place: '{"x": 12345678901234567890}',
      maybe: 'null',
      unit: ' c',
      unknown: '7',
    }),
    calls: [
      [
        'f',
        '{"count":42,"ratio":1,"flag":true,"list":[1,\n 2],"place":{"x": 12345678901234567890},"maybe":null,' +
          '"unit":"c","unknown":"7"}',
      ],
    ],
  },
  'values that are not of their type': {
    dialects: coder,
    answer: xml('f', { count: '4.5', flag: 'maybe', list: '[1', place: '[]', maybe: 'no' }),
    calls: [['f', '{"count":"4.5","flag":"maybe","list":"[1","place":"[]","maybe":"no"}']],
  },
  'a tool that nobody offered': {
    dialects: qwen,
    answer: json('other', '{"a": 1}'),
    calls: [['other', '{"a": 1}']],
  },
  'values in one line, and a parameter that is not closed': {
    dialects: coder,
    answer: `${begin} <function=f> <parameter=count> 3 </parameter><parameter=text> **/x  ${end}`,
    calls: [['f', '{"count":3,"text":" **/x  "}']],
  },
  'a value that ends with its function': {
    dialects: coder,
    answer: `${begin}\n<function=f>\n<parameter=text>\nabc\n</function>\n${end}`,
    calls: [['f', '{"text":"abc"}']],
  },
  'a number that ends with its function': {
    dialects: coder,
    answer: `${begin}<function=f><parameter=count>\n5\n</function>${end}`,
    calls: [['f', '{"count":5}']],
  },
  'a value that ends where another begins': {
    dialects: coder,
    answer: `${begin}\n<function=f>\n<parameter=text>\nabc\n\n<parameter=count>\n5\n<parameter=flag>true</parameter></function>${end}`,
    calls: [['f', '{"text":"abc\\n","count":5,"flag":true}']],
  },
  'what is no end of a value': {
    dialects: coder,
    answer: xml('f', {
      count: '1',
      text: 'a\n</function>\nb\n<parameter=other>\n<parameter=count>\n<parameter=text>\nc <parameter=flag>',
    }),
    calls: [
      [
        'f',
        `{"count":1,"text":${JSON.stringify('a\n</function>\nb\n<parameter=other>\n<parameter=count>\n<parameter=text>\nc <parameter=flag>')}}`,
      ],
    ],
  },
  'what is not JSON': {
    dialects: qwen,
    answer: `${begin}{name: f}${end}`,
    content: '<tool_call>{name: f}</tool_call>',
    calls: [],
  },
  'an object without a name': {
    dialects: qwen,
    answer: `${begin}{"arguments": {}}${end} x`,
    content: '<tool_call>{"arguments": {}}</tool_call> x',
    calls: [],
  },
  'JSON that breaks behind the name': {
    dialects: qwen,
    answer: `${begin}{"name": "f", "arguments": {"a": ]}${end}`,
    calls: [['f', '{"a": ]']],
  },
  'what is no function': {
    dialects: coder,
    answer: `${begin}\n<fun=f>${end}`,
    content: '<tool_call>\n<fun=f></tool_call>',
    calls: [],
  },
  'a call inside of what was none': {
    dialects: ['spelled'],
    answer: `${begin} oops ${json('ping', '{}')}`,
    content: '<tool_call> oops',
    calls: [['ping', '{}']],
  },
  'an unclosed block that the model ended': {
    dialects: qwen,
    answer: `${begin}{"name": "f", "arguments": {"text": "x"}}`,
    calls: [['f', '{"text": "x"}']],
  },
  'an unclosed block in XML that the model ended': {
    dialects: coder,
    answer: `${begin}<function=f>\n<parameter=text>\nx\n`,
    calls: [['f', '{"text":"x"}']],
  },
  'arguments that a limit cut': {
    dialects: qwen,
    answer: `${begin}{"name": "f", "arguments": {"text": "x`,
    calls: [['f', '{"text": "x']],
    options: { cut: true },
    asksForCalls: false,
  },
  'a value in XML that a limit cut': {
    dialects: coder,
    answer: `${begin}<function=f><parameter=count>1</parameter><parameter=text>\nx\n</para`,
    calls: [['f', '{"count":1,"text":"x']],
    options: { cut: true },
    asksForCalls: false,
  },
  'text that a limit cut behind a call': {
    dialects: qwen,
    answer: `${json('ping', '{}')} and`,
    content: 'and',
    calls: [['ping', '{}']],
    options: { cut: true },
  },
  'a name that a limit cut': {
    dialects: [...qwen, ...coder],
    answer: `x ${begin}\n{"na`,
    content: 'x <tool_call>\n{"na',
    calls: [],
    options: { cut: true },
  },
};

const cases = Object.entries(corpus).flatMap(([name, each]) =>
  each.dialects.map((dialect): [string, DialectName, Case] => [name, dialect, each]),
);

describe('ToolReader', () => {
  test('reads arguments as a string in a time that grows with them alone', () => {
    const text = 'x'.repeat(200_000);
    const pieces = json('f', JSON.stringify(JSON.stringify({ text }))).match(/[^]{1,4}/g) ?? [];
    const startedAt = performance.now();
    const { calls } = readPieces('qwenJson', pieces);
    expect(performance.now() - startedAt).toBeLessThan(2000);
    expect(calls).toEqual([{ name: 'f', arguments: JSON.stringify({ text }) }]);
  });

  test.each<[string, DialectName, string, string]>([
    ['line breaks before an answer', 'qwenJson', '', '\n'],
    ['line breaks where a call begins', 'qwenXml', begin, '\n'],
    ['blocks within blocks that are none', 'spelled', '', '<tool_call>{"a":['],
  ])('reads %s (%s) in a time that grows with them alone', (_name, dialect, first, piece) => {
    const pieces = Array.from({ length: 150_000 / piece.length }, () => piece);
    const startedAt = performance.now();
    expect(readPieces(dialect, [first, ...pieces]).calls).toEqual([]);
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  test.each(cases)('reads %s (%s) alike in any pieces', (_name, dialect, each) => {
    const answer = dialect.startsWith('spelled') ? spelled(each.answer) : each.answer;
    const expected: Read = {
      content: each.content ?? '',
      calls: each.calls.map(([name, text]) => ({ name, arguments: text })),
      asksForCalls: each.asksForCalls ?? each.calls.length > 0,
    };
    const read = (...pieces: string[]): Read => readPieces(dialect, pieces, each.options);
    expect(read(answer)).toEqual(expected);
    const characters = Array.from(answer);
    expect(read(...characters)).toEqual(expected);
    // In fifty calls that are alike, some 13th place meets every place of a call.
    const places = characters.map((_, i) => i).filter((i) => characters.length < 1000 || i % 13 === 0);
    const splits = places.map((i) => [characters.slice(0, i).join(''), characters.slice(i).join('')]);
    const text = JSON.stringify(expected);
    expect(splits.filter((pieces) => JSON.stringify(read(...pieces)) !== text)).toEqual([]);
  });
});
