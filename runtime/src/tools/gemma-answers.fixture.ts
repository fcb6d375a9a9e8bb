// Answers with calls as Gemma 4 and FunctionGemma write them, that are easily misread.

import { begin, end, fifty, type AnswerCase } from './tool-reader.fixture.js';

const both = ['gemma', 'spelledGemma'] as const;
/** Around texts. */
const q = '<|"|>';

export const gemmaAnswers: Readonly<Record<string, AnswerCase>> = {
  'one call of Gemma': {
    dialects: both,
    answer: `${begin}call:f{text:${q}x${q}}${end}`,
    calls: [['f', '{"text":"x"}']],
  },
  'a call of FunctionGemma': {
    dialects: ['spelledFunctionGemma'],
    answer: `${begin}call:f{count:3,text:<escape>a, b}: <|"|><escape>}${end}`,
    calls: [['f', '{"count":3,"text":"a, b}: <|\\"|>"}']],
  },
  'a call of Gemma without arguments, among text': {
    dialects: both,
    answer: `I look.\n${begin}call:ping{}${end}\nSo.`,
    content: 'I look.\n\nSo.',
    calls: [['ping', '{}']],
  },
  'calls of Gemma, with nothing and with a line break between': {
    dialects: both,
    answer: `${begin}call:ping{}${end}${begin}call:f{count:1}${end}\n${begin}call:f{count:2}${end}`,
    calls: [
      ['ping', '{}'],
      ['f', '{"count":1}'],
      ['f', '{"count":2}'],
    ],
  },
  'fifty calls of Gemma': {
    dialects: ['gemma'],
    answer: fifty.map((i) => `${begin}call:f{count:${String(i)}}${end}`).join(''),
    calls: fifty.map((i) => ['f', `{"count":${String(i)}}`]),
  },
  'the first call of Gemma alone, where several are not wanted': {
    dialects: both,
    answer: `${begin}call:ping{}${end}${begin}call:f{}${end} and text`,
    calls: [['ping', '{}']],
    options: { parallel: false },
  },
  'values of every kind of Gemma': {
    dialects: both,
    answer: `${begin}call:f{count:-3,flag:true,list:[1,2.5,[],[${q}a${q},null]],maybe:null,ratio:1e-3,unit:${q}c${q}}${end}`,
    calls: [
      ['f', '{"count":-3,"flag":true,"list":[1,2.5,[],["a",null]],"maybe":null,"ratio":1e-3,"unit":"c"}'],
    ],
  },
  'digits of Gemma that JavaScript would lose': {
    dialects: both,
    answer: `${begin}call:f{count:12345678901234567890,ratio:20.0}${end}`,
    calls: [['f', '{"count":12345678901234567890,"ratio":20.0}']],
  },
  'nested objects of Gemma': {
    dialects: both,
    answer: `${begin}call:f{place:{x:1,deep:{list:[{a:${q}}${q}},{}]}},text:${q}${q}}${end}`,
    calls: [['f', '{"place":{"x":1,"deep":{"list":[{"a":"}"},{}]}},"text":""}']],
  },
  'a text of Gemma with all that JSON escapes': {
    dialects: both,
    answer: `${begin}call:f{text:${q}a "b" \\n\n\t{c: [1, 2]}, <tool> é 好 \u{1f600}${q}}${end}`,
    calls: [['f', '{"text":"a \\"b\\" \\\\n\\n\\t{c: [1, 2]}, <tool> é 好 \u{1f600}"}']],
  },
  'a text of Gemma with half a mark': {
    dialects: both,
    answer: `${begin}call:f{text:${q}<|<|"<|"|${q},count:1}${end}`,
    calls: [['f', '{"text":"<|<|\\"<|\\"|","count":1}']],
  },
  'a call of Gemma with spaces and line breaks between its parts': {
    dialects: both,
    answer: `${begin} call: f {\n  text : ${q} x ${q} ,\n  count : 5 ,\n  list : [ 1 , 2 ]\n}\n${end}`,
    calls: [['f', '{"text":" x ","count":5,"list":[1,2]}']],
  },
  'names of Gemma in marks': {
    dialects: both,
    answer: `${begin}call:f{${q}text${q}:${q}x${q},place:{${q}a: "b", }${q}:1}}${end}`,
    calls: [['f', '{"text":"x","place":{"a: \\"b\\", }":1}}']],
  },
  'arguments of Gemma in JSON': {
    dialects: both,
    answer: `${begin}call:f{"text": "a \\"<|\\"|>\\" \\u00e9\\\\", "place": {"x\\"y": [1, {"z": null}]}, "count": 1}${end}`,
    calls: [['f', '{"text":"a \\"<|\\"|>\\" \\u00e9\\\\","place":{"x\\"y":[1,{"z":null}]},"count":1}']],
  },
  'a line break of Gemma in a text of JSON': {
    dialects: both,
    answer: `${begin}call:f{"text": "a\nb"}${end}`,
    calls: [['f', '{"text":"a\\nb"}']],
  },
  'a text of Gemma without marks': {
    dialects: both,
    answer: `${begin}call:f{text:New York,list:[a b,2x],flag:True,maybe:None}${end}`,
    calls: [['f', '{"text":"New York","list":["a b","2x"],"flag":true,"maybe":null}']],
  },
  'a comma of Gemma behind the last': {
    dialects: both,
    answer: `${begin}call:f{list:[1,2,],count:1,}${end}`,
    calls: [['f', '{"list":[1,2],"count":1}']],
  },
  'a value of Gemma that is missing': {
    dialects: both,
    answer: `${begin}call:f{maybe:,count:}${end}`,
    calls: [['f', '{"maybe":null,"count":null}']],
  },
  'a name of Gemma in marks without a colon': {
    dialects: both,
    answer: `${begin}call:f{"text" "b"}${end}`,
    calls: [['f', '{"text":null}']],
  },
  'a name of an argument of Gemma alone': {
    dialects: both,
    answer: `${begin}call:f{count:1,Bern}${end}`,
    calls: [['f', '{"count":1}']],
  },
  'brackets of Gemma that do not match': {
    dialects: both,
    answer: `${begin}call:f{list:[1,2},count:3}${end} Done.`,
    content: 'Done.',
    calls: [['f', '{"list":[1,2]}']],
  },
  'text of Gemma behind a value': {
    dialects: both,
    answer: `${begin}call:f{text:${q}a${q} and,count:3}${end}`,
    calls: [['f', '{"text":"a"}']],
  },
  'text of Gemma behind the arguments': {
    dialects: both,
    answer: `${begin}call:ping{} call:f{}${end}So.`,
    content: 'So.',
    calls: [['ping', '{}']],
  },
  'an end marker of Gemma in a text': {
    dialects: both,
    answer: `${begin}call:f{text:${q}a ${end} b${q},count:1}${end}`,
    calls: [['f', '{"text":"a <tool_call|> b","count":1}']],
  },
  'a whole call of Gemma in a text': {
    dialects: both,
    answer: `${begin}call:f{text:${q}${begin}call:ping{}${end}${q}}${end}`,
    calls: [['f', '{"text":"<|tool_call>call:ping{}<tool_call|>"}']],
  },
  'a text of Gemma that the model left open': {
    dialects: both,
    answer: `${begin}call:f{place:{a:[${q}x${end}`,
    calls: [['f', '{"place":{"a":["x"]}}']],
  },
  'a text of Gemma that the model left open before another call': {
    dialects: both,
    answer: `${begin}call:f{text:${q}x${end}${begin}call:ping{}${end}`,
    calls: [
      ['f', '{"text":"x"}'],
      ['ping', '{}'],
    ],
  },
  'a call of Gemma without its end': {
    dialects: both,
    answer: `${begin}call:f{list:[1,{a:2`,
    calls: [['f', '{"list":[1,{"a":2}]}']],
  },
  'an argument of Gemma without its value': {
    dialects: both,
    answer: `${begin}call:f{count:1,text:`,
    calls: [['f', '{"count":1,"text":null}']],
  },
  'a text of Gemma in JSON that ends with a backslash': {
    dialects: both,
    answer: `${begin}call:f{"text": "a\\`,
    calls: [['f', '{"text":"a\\\\"}']],
  },
  'a text of Gemma that a limit cut': {
    dialects: both,
    answer: `${begin}call:f{count:1,text:${q}x`,
    calls: [['f', '{"count":1,"text":"x']],
    options: { cut: true },
    asksForCalls: false,
  },
  'a number of Gemma that a limit cut': {
    dialects: both,
    answer: `${begin}call:f{count:12`,
    calls: [['f', '{"count":']],
    options: { cut: true },
    asksForCalls: false,
  },
  'a name of Gemma that a limit cut': {
    dialects: ['gemma'],
    answer: `x ${begin}call:pi`,
    content: 'x <|tool_call>call:pi',
    calls: [],
    options: { cut: true },
  },
  'the name of a call of Gemma that is required and that a limit cut': {
    dialects: both,
    answer: `${begin}call:pi`,
    calls: [],
    options: { cut: true, choice: 'required' },
  },
  'what is no call of Gemma': {
    dialects: both,
    answer: `${begin}f{}${end} ${begin}call:{}${end} ${begin}call:a b{}${end} ${begin}declaration:f{}${end}`,
    content:
      '<|tool_call>f{}<tool_call|> <|tool_call>call:{}<tool_call|> <|tool_call>call:a b{}<tool_call|> <|tool_call>declaration:f{}<tool_call|>',
    calls: [],
  },
  'a call of Gemma that is spelled in prose': {
    dialects: ['gemma'],
    answer: 'Write <|tool_call>call:f{text:<|"|>x<|"|>}<tool_call|>, or call:ping{}.',
    content: 'Write <|tool_call>call:f{text:<|"|>x<|"|>}<tool_call|>, or call:ping{}.',
    calls: [],
  },
  'a call of Hermes, of a model of Gemma': {
    dialects: both,
    answer: '<tool_call>{"name": "f", "arguments": {}}</tool_call>',
    content: '<tool_call>{"name": "f", "arguments": {}}</tool_call>',
    calls: [],
  },
  'a name of an argument of Gemma that is too long': {
    dialects: both,
    answer: `${begin}call:f{count:1,${'k'.repeat(300)}:2}${end}`,
    calls: [['f', '{"count":1}']],
  },
};
