// Answers with calls in XML, as Qwen writes them, that are easily misread.

import { begin, end, fifty, type AnswerCase } from './tool-reader.fixture.js';

/** The dialects that write so, of vocabularies with the markers and without. */
export const coder = ['qwenXml', 'spelledXml'] as const;

export const xml = (name: string, parameters: Readonly<Record<string, string>>): string => {
  const all = Object.entries(parameters).map(
    ([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`,
  );
  return `${begin}\n<function=${name}>\n${all.join('')}</function>\n${end}`;
};

export const xmlAnswers: Readonly<Record<string, AnswerCase>> = {
  'one call in XML': { dialects: coder, answer: xml('f', { text: 'x' }), calls: [['f', '{"text":"x"}']] },
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
  'a call in XML that a fenced block of code shows': {
    dialects: coder,
    answer: 'So:\n```xml\n<function=ping>\n</function>\n```\nYou call it.',
    content: 'So:\n```xml\n<function=ping>\n</function>\n```\nYou call it.',
    calls: [],
  },
  'a call in XML that a block of code with tildes shows, with backticks in it': {
    dialects: coder,
    answer: '~~~\n```\n<function=ping>\n</function>\n~~~',
    content: '~~~\n```\n<function=ping>\n</function>\n~~~',
    calls: [],
  },
  'calls in XML without markers, behind code': {
    dialects: coder,
    answer:
      '```\na\n```\n```b``` and\n<function=ping>\n</function>\n```\nc\n```\n\n<function=ping>\n</function>',
    content: '```\na\n```\n```b``` and\n```\nc\n```',
    calls: [
      ['ping', '{}'],
      ['ping', '{}'],
    ],
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
  'the first function alone, where several are not wanted': {
    dialects: coder,
    answer: `${begin}<function=ping></function><function=f></function>${end}${xml('f', {})}`,
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'a begin marker in a value in XML': {
    dialects: ['qwenXml'],
    answer: xml('f', { text: `a ${begin} c` }),
    calls: [['f', '{"text":"a <tool_call> c"}']],
  },
  'no parameters in XML': { dialects: coder, answer: xml('ping', {}), calls: [['ping', '{}']] },
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
  'what is no function': {
    dialects: coder,
    answer: `${begin}\n<fun=f>${end}`,
    content: '<tool_call>\n<fun=f></tool_call>',
    calls: [],
  },
  'an unclosed block in XML that the model ended': {
    dialects: coder,
    answer: `${begin}<function=f>\n<parameter=text>\nx\n`,
    calls: [['f', '{"text":"x"}']],
  },
  'a value in XML that a limit cut': {
    dialects: coder,
    answer: `${begin}<function=f><parameter=count>1</parameter><parameter=text>\nx\n</para`,
    calls: [['f', '{"count":1,"text":"x']],
    options: { cut: true },
    asksForCalls: false,
  },
};
