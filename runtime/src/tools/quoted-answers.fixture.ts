// Answers with end markers within arguments: quoted, or behind a text that the model left open.

import { json, qwen } from './json-answers.fixture.js';
import { begin, end, type AnswerCase } from './tool-reader.fixture.js';
import { coder, xml } from './xml-answers.fixture.js';

export const quotedAnswers: Readonly<Record<string, AnswerCase>> = {
  'an end marker in a text of the arguments': {
    dialects: qwen,
    answer: json('f', `{"text": "see ${end} in the docs"}`),
    calls: [['f', '{"text": "see </tool_call> in the docs"}']],
  },
  'end markers in texts of several calls': {
    dialects: qwen,
    answer: `${json('f', `{"text": "${end}", "a": ["${end}${end}"]}`)}\n${json('f', `{"text": "a ${end}"}`)}\nSo.`,
    content: 'So.',
    calls: [
      ['f', '{"text": "</tool_call>", "a": ["</tool_call></tool_call>"]}'],
      ['f', '{"text": "a </tool_call>"}'],
    ],
  },
  'both markers in a text of the arguments': {
    dialects: qwen,
    answer: json('f', `{"text": "write ${begin}{}${end} or so ${begin} to call"}`),
    calls: [['f', '{"text": "write <tool_call>{}</tool_call> or so <tool_call> to call"}']],
  },
  'an end marker in arguments before the name': {
    dialects: qwen,
    answer: `${begin}{"arguments": {"text": "a ${end} b"}, "name": "f"}${end}`,
    calls: [['f', '{"text": "a </tool_call> b"}']],
  },
  'an end marker in what turns out to be no call': {
    dialects: qwen,
    answer: `${begin}{"text": "a ${end} b"}${end} c`,
    content: '<tool_call>{"text": "a </tool_call> b"}</tool_call> c',
    calls: [],
  },
  'an end marker in the first call, where several are not wanted': {
    dialects: qwen,
    answer: `${json('f', `{"text": "a ${end} b"}`)}\n${json('ping', '{}')} and text`,
    calls: [['f', '{"text": "a </tool_call> b"}']],
    options: { parallel: false },
  },
  'a text that was left open, and prose behind its call': {
    dialects: qwen,
    answer: `${begin}{"name": "f", "arguments": {"text": "x${end}\nand prose`,
    content: 'and prose',
    calls: [['f', '{"text": "x']],
  },
  'a text that was left open, and another call': {
    dialects: qwen,
    answer: `${begin}{"name": "f", "arguments": {"text": "x${end}\n${json('f', '{"text": "y"}')}`,
    calls: [
      ['f', '{"text": "x'],
      ['f', '{"text": "y"}'],
    ],
  },
  'an end marker in a text that a limit cut': {
    dialects: qwen,
    answer: `${begin}{"name": "f", "arguments": {"text": "see ${end} in`,
    calls: [['f', '{"text": "see </tool_call> in']],
    options: { cut: true },
    asksForCalls: false,
  },
  'an end marker in a value in XML': {
    dialects: coder,
    answer: xml('f', { text: `see ${end} in the docs`, count: '1' }),
    calls: [['f', '{"text":"see </tool_call> in the docs","count":1}']],
  },
  'end markers at the ends of values in XML': {
    dialects: coder,
    answer: `${xml('f', { text: `${end}a${end}` })}\n${xml('f', { text: end })}\nSo.`,
    content: 'So.',
    calls: [
      ['f', '{"text":"</tool_call>a</tool_call>"}'],
      ['f', '{"text":"</tool_call>"}'],
    ],
  },
  'both markers in a value in XML': {
    dialects: coder,
    answer: xml('f', { text: `write ${begin}…${end} or so ${begin} to call` }),
    calls: [['f', '{"text":"write <tool_call>…</tool_call> or so <tool_call> to call"}']],
  },
  'an end marker in a value in XML that is not closed': {
    dialects: coder,
    answer: `${begin}<function=f>\n<parameter=text>\na ${end} b\n</function>\n${end}`,
    calls: [['f', '{"text":"a </tool_call> b"}']],
  },
  'a value in XML that was left open, and prose behind its call': {
    dialects: coder,
    answer: `${begin}<function=f><parameter=text>x ${end}\nand prose`,
    content: 'and prose',
    calls: [['f', '{"text":"x "}']],
  },
  'a value in XML that was left open, and another call': {
    dialects: coder,
    answer: `${begin}<function=f><parameter=text>x${end}\n${xml('f', { text: 'y' })}`,
    calls: [
      ['f', '{"text":"x"}'],
      ['f', '{"text":"y"}'],
    ],
  },
  'a value in XML that was left open, and another call without its begin marker': {
    dialects: coder,
    answer: `${begin}<function=f><parameter=text>x${end}\n<function=f>\n<parameter=text>\ny\n</parameter>\n</function>`,
    calls: [
      ['f', '{"text":"x"}'],
      ['f', '{"text":"y"}'],
    ],
  },
  'a value in XML that ends with its function, and another call': {
    dialects: coder,
    answer: `${begin}<function=f>\n<parameter=text>\nx\n</function>\n${end}\n${xml('ping', {})}`,
    calls: [
      ['f', '{"text":"x"}'],
      ['ping', '{}'],
    ],
  },
  'the end of a value, quoted in it': {
    dialects: coder,
    answer: xml('f', {
      text: 'see </parameter> in\n</parameter>\nthe </parameter>\n\n<parameter> docs',
      count: '1',
    }),
    calls: [
      [
        'f',
        `{"text":${JSON.stringify('see </parameter> in\n</parameter>\nthe </parameter>\n\n<parameter> docs')},"count":1}`,
      ],
    ],
  },
  'the end of a value that stands twice': {
    dialects: coder,
    answer: `${begin}<function=f><parameter=text>a</parameter>\n</parameter>\n</function>${end}`,
    calls: [['f', '{"text":"a"}']],
  },
  'the end of a value, and of no function': {
    dialects: coder,
    answer: `${begin}<function=f>\n<parameter=text>\na\n</parameter>\n${end}So.`,
    content: 'So.',
    calls: [['f', '{"text":"a"}']],
  },
  'the end of a value behind which a limit cuts': {
    dialects: coder,
    answer: `${begin}<function=f>\n<parameter=text>\na\n</parameter>\n`,
    calls: [['f', '{"text":"a"']],
    options: { cut: true },
    asksForCalls: false,
  },
  'an end marker in a value in XML that a limit cut': {
    dialects: coder,
    answer: `${begin}<function=f>\n<parameter=text>\nsee ${end} in`,
    calls: [['f', '{"text":"see </tool_call> in']],
    options: { cut: true },
    asksForCalls: false,
  },
};
