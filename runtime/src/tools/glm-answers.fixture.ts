// Answers with calls as GLM writes them, that are easily misread.

import { begin, end, fifty, type AnswerCase } from './tool-reader.fixture.js';

/** The dialects that write so, of vocabularies with the markers and without. */
const glm = ['glmXml', 'spelledGlm'] as const;

const argument = (key: string, value: string, space = '\n'): string =>
  `<arg_key>${key}</arg_key>${space}<arg_value>${value}</arg_value>`;

export const glmAnswers: Readonly<Record<string, AnswerCase>> = {
  'one call of GLM': {
    dialects: glm,
    answer: `${begin}f\n${argument('text', 'x')}\n${argument('count', '1')}\n${end}`,
    calls: [['f', '{"text":"x","count":1}']],
  },
  'one call of GLM without line breaks, behind text': {
    dialects: glm,
    answer: `I look.${begin}f${argument('text', 'x', '')}${argument('flag', 'true', '')}${end}`,
    content: 'I look.',
    calls: [['f', '{"text":"x","flag":true}']],
  },
  'calls of GLM without arguments': {
    dialects: glm,
    answer: `${begin}ping${end}\n${begin}ping\n\n${end}`,
    calls: [
      ['ping', '{}'],
      ['ping', '{}'],
    ],
  },
  'fifty calls of GLM': {
    dialects: glm,
    answer: fifty.map((i) => `${begin}f\n${argument('count', String(i))}\n${end}`).join('\n'),
    calls: fifty.map((i) => ['f', `{"count":${String(i)}}`]),
  },
  'the first call of GLM alone, where several are not wanted': {
    dialects: glm,
    answer: `${begin}ping${end}${begin}ping${end}`,
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'texts of GLM with the space around them': {
    dialects: glm,
    answer: `${begin}f\n${argument('text', '\n a\n\n')}\n${end}`,
    calls: [['f', JSON.stringify({ text: '\n a\n\n' })]],
  },
  'types of GLM by the schema': {
    dialects: glm,
    answer:
      `${begin}f` +
      argument('ratio', '1') +
      argument('list', '[1,\n 2]') +
      argument('place', '{"x": 12345678901234567890}') +
      argument('maybe', 'null') +
      argument('unknown', '7') +
      end,
    calls: [
      ['f', '{"ratio":1,"list":[1,\n 2],"place":{"x": 12345678901234567890},"maybe":null,"unknown":"7"}'],
    ],
  },
  'markers in a text of GLM': {
    dialects: ['glmXml'],
    answer: `${begin}f\n${argument('text', `a ${end} b ${begin}c${end}`)}\n${argument('count', '1')}\n${end}`,
    calls: [['f', '{"text":"a </tool_call> b <tool_call>c</tool_call>","count":1}']],
  },
  'an end marker in a text of GLM whose markers are spelled': {
    dialects: ['spelledGlm'],
    answer: `${begin}f\n${argument('text', `a ${end} b`)}\n${end}\nSo.`,
    content: 'So.',
    calls: [['f', '{"text":"a </tool_call> b"}']],
  },
  'a text of GLM that the model left open, before another call': {
    dialects: glm,
    answer: `${begin}f\n<arg_key>text</arg_key>\n<arg_value>x\n${end}\n${begin}f\n${argument('text', 'y')}\n${end}`,
    calls: [
      ['f', '{"text":"x"}'],
      ['f', '{"text":"y"}'],
    ],
  },
  'a text of GLM that ends where another argument begins': {
    dialects: glm,
    answer: `${begin}f\n<arg_key>text</arg_key>\n<arg_value>x\n${argument('count', '5')}\n${end}`,
    calls: [['f', '{"text":"x","count":5}']],
  },
  'an argument of GLM without a value': {
    dialects: glm,
    answer: `${begin}f\n<arg_key>text</arg_key>\n${end}`,
    calls: [['f', '{"text":""}']],
  },
  'a call of GLM that the model left open': {
    dialects: glm,
    answer: `${begin}f\n${argument('count', '5')}\n`,
    calls: [['f', '{"count":5}']],
  },
  'a call of GLM that a limit cut between arguments': {
    dialects: glm,
    answer: `${begin}f\n${argument('count', '5')}\n`,
    calls: [['f', '{"count":5']],
    options: { cut: true },
    asksForCalls: false,
  },
  'a text of GLM that a limit cut': {
    dialects: glm,
    answer: `${begin}f\n<arg_key>text</arg_key>\n<arg_value>x</arg_`,
    calls: [['f', '{"text":"x']],
    options: { cut: true },
    asksForCalls: false,
  },
  'a name of GLM that a limit cut': {
    dialects: glm,
    answer: `x ${begin}pi`,
    content: 'x <tool_call>pi',
    calls: [],
    options: { cut: true },
  },
  'the name of a call of GLM that is required and that a limit cut': {
    dialects: glm,
    answer: `${begin}f\n<arg`,
    calls: [],
    options: { cut: true, choice: 'required' },
  },
  'what is no name of GLM': {
    dialects: glm,
    answer: `${begin}a b${end} ${begin}{"name": "f"}${end} ${begin}<arg_key>${end}${begin}${end}`,
    content:
      '<tool_call>a b</tool_call> <tool_call>{"name": "f"}</tool_call> <tool_call><arg_key></tool_call><tool_call></tool_call>',
    calls: [],
  },
  'a name of GLM that is too long': {
    dialects: glm,
    answer: `${begin}${'f'.repeat(300)}${argument('text', 'x')}${end}`,
    content: `<tool_call>${'f'.repeat(300)}${argument('text', 'x')}</tool_call>`,
    calls: [],
  },
};
