// How models write calls of tools. For each way: what stands around calls, what reads them, what their grammar is made of,
// and by what a chat template is known to write so.

import { JsonCall } from './json-call.js';
import { NamedCall } from './named-call.js';
import { PairArguments } from './pair-arguments.js';
import type { CallBody, CallReading } from './tool.js';
import { XmlCall } from './xml-call.js';
import { xmlSyntaxes, type XmlStyle } from './xml-syntax.js';

export interface CallForm {
  /** Which parsers of vLLM read it; https://docs.vllm.ai/en/latest/features/tool_calling/ has their names. */
  readonly parsers: readonly string[];
  /** How a block of calls begins, as a template writes it or describes it. */
  readonly written: RegExp;
  /** Tokens that every vocabulary of models that write so has. */
  readonly needs: readonly string[];
  /** Markers around a block. `end` null: it ends with its calls, or with the answer. */
  readonly begin: string;
  readonly end: string | null;
  /** Markers between the parts of a block. Those that are tokens are read as their letters. */
  readonly within: readonly string[];
  /** Whether an answer that begins with a call needs no marker. */
  readonly bare: boolean;
  /** What begins a block where models leave its marker out; null: they do not. */
  readonly unmarked: string | null;
  /**
   * What may follow the begin marker, without space; empty: a tool's name. Of bare calls the characters that they begin
   * with.
   */
  readonly opens: readonly string[];
  /** Whether chat templates refuse ids of calls that are not nine letters and digits. */
  readonly shortIds: boolean;
  readonly newBody: (reading: CallReading) => CallBody;
  /** How arguments are written, of XGrammar's styles. */
  readonly style: 'json' | XmlStyle;
  /** What stands around the arguments of a call, as the chat templates write it. */
  readonly around: (name: string) => readonly [before: string, after: string];
  /** What stands before, between and behind the calls of a block; null: each call has a block of its own. */
  readonly list: readonly [open: string, separator: string, close: string] | null;
}

const common = {
  needs: [],
  within: [],
  bare: false,
  unmarked: null,
  shortIds: false,
  style: 'json',
  list: null,
} as const satisfies Partial<CallForm>;

const qwen = { begin: '<tool_call>', end: '</tool_call>' };

/** Before arguments; the marker before them is left out at times. */
const mistralHead = /^\s*([\w.:/-]+)\s*(?:\[CALL_ID\]\s*(?:\w+\s*)?)?(?:\[ARGS\]\s*)?$/;

const mistral = { parsers: ['mistral'], begin: '[TOOL_CALLS]', end: null, shortIds: true };

/** Behind the call before, where there is one. */
const deepSeekHead =
  /<｜tool▁call▁begin｜>\s*function\s*<｜tool▁sep｜>\s*([\w.:/-]+)\s*(?:```(?:json)?\s*)?$/;

/** Of version 3.1. */
const deepSeekBareHead = /<｜tool▁call▁begin｜>\s*([\w.:/-]+)\s*<｜tool▁sep｜>\s*$/;

/** Behind the begin marker. */
const functionaryHead = /^([\w.:/-]+)>\s*$/;

const deepSeek = {
  begin: '<｜tool▁calls▁begin｜>',
  end: '<｜tool▁calls▁end｜>',
  beginCall: '<｜tool▁call▁begin｜>',
  separator: '<｜tool▁sep｜>',
  endCall: '<｜tool▁call▁end｜>',
};

const deepSeekForm = {
  ...common,
  begin: deepSeek.begin,
  end: deepSeek.end,
  within: [deepSeek.beginCall, deepSeek.separator, deepSeek.endCall],
  opens: [deepSeek.beginCall],
};

const object = (name: string, key: 'arguments' | 'parameters'): readonly [string, string] => [
  `{"name": ${JSON.stringify(name)}, "${key}": `,
  '}',
];

/** Of objects in a list between two markers. */
const listBetween = (begin: string, end: string) =>
  ({
    ...common,
    begin,
    end,
    written: new RegExp(`${begin}\\s*\\[\\s*\\{+\\s*"name"`),
    opens: ['[', '{'],
    newBody: ({ sink, accepts, many }: CallReading) => new JsonCall(sink, accepts, many, 'ignored'),
    around: (name: string) => object(name, 'arguments'),
    list: ['[', ', ', ']'],
  }) as const;

/** Before arguments of Gemma's models. */
const gemmaHead = /^\s*call:\s*([\w.:/-]+)\s*$/;

/** Of Gemma's models: where a grammar holds arguments, they are written as JSON, which is read as well. */
const gemmaForm = (begin: string, end: string, quote: string) =>
  ({
    ...common,
    begin,
    end,
    written: new RegExp(`${begin.replaceAll('|', '\\|')}call:[^\\s{}<]+\\{`),
    within: [quote],
    opens: ['call:'],
    newBody: ({ sink, accepts }: CallReading) =>
      new NamedCall(sink, accepts, gemmaHead, false, (to, name) => PairArguments.of(to, name, quote)),
    around: (name: string): readonly [string, string] => [`call:${name}`, ''],
  }) as const;

const qwenXml = {
  ...common,
  ...qwen,
  parsers: ['qwen3_coder', 'qwen3_xml'],
  written: /<tool_call>\s*<function=/,
  unmarked: '<function=',
  opens: ['<function='],
  newBody: (reading) => new XmlCall(reading, xmlSyntaxes.qwen_xml),
  style: 'qwen_xml',
  around: (name) => [`\n<function=${name}>`, '</function>\n'],
} satisfies CallForm;

const forms = {
  qwenJson: {
    ...common,
    ...qwen,
    parsers: ['hermes'],
    written: /<tool_call>\s*(?:\[\s*)?\{\s*"name"/,
    opens: ['{', '['],
    newBody: ({ sink, accepts, many }) => new JsonCall(sink, accepts, many, 'ignored'),
    around: (name) => {
      const [before, after] = object(name, 'arguments');
      return [`\n${before}`, `${after}\n`];
    },
  },
  qwenXml,
  glmXml: {
    ...common,
    ...qwen,
    parsers: ['glm45', 'glm47'],
    written: /<tool_call>[^\s<]+\s*<arg_key>/,
    opens: [''],
    newBody: (reading) => new XmlCall(reading, xmlSyntaxes.glm_xml),
    style: 'glm_xml',
    around: (name) => [name, ''],
  },
  miniMaxXml: {
    ...common,
    begin: '<minimax:tool_call>',
    end: '</minimax:tool_call>',
    parsers: ['minimax_m2'],
    written: /<minimax:tool_call>\s*<invoke name="/,
    opens: ['<invoke name="'],
    newBody: (reading) => new XmlCall(reading, xmlSyntaxes.minimax_xml),
    style: 'minimax_xml',
    around: (name) => [`<invoke name="${name}">`, '</invoke>'],
    list: ['\n', '\n', '\n'],
  },
  seedXml: {
    ...qwenXml,
    begin: '<seed:tool_call>',
    end: '</seed:tool_call>',
    parsers: ['seed_oss'],
    written: /<seed:tool_call>\s*<function=/,
  },
  llamaJson: {
    ...common,
    parsers: ['llama3_json'],
    // Without a description between them: else it would be a tool's.
    written: /\{\s*(?:"type":\s*"function",\s*)?"name":[^,{}]*,\s*"parameters":/,
    // Models with the object alone are trained to write this token before code.
    needs: ['<|python_tag|>'],
    begin: '<|python_tag|>',
    end: null,
    bare: true,
    opens: ['{'],
    newBody: ({ sink, accepts }) => new JsonCall(sink, accepts, false, 'none'),
    around: (name) => object(name, 'parameters'),
  },
  /** Of tokenizers from version 11, in which the name stands before the object. */
  mistralNamed: {
    ...common,
    ...mistral,
    written: /\[TOOL_CALLS\][^\s[\]{}]+(?:\[CALL_ID\][^\s[\]{}]+)?\[ARGS\]/,
    needs: ['[TOOL_CALLS]', '[ARGS]'],
    within: ['[CALL_ID]', '[ARGS]'],
    opens: [],
    newBody: ({ sink, accepts }) => new NamedCall(sink, accepts, mistralHead, false),
    around: (name) => [`${name}[ARGS]`, ''],
  },
  mistralJson: {
    ...common,
    ...mistral,
    written: /\[TOOL_CALLS\]\s*\[\s*\{/,
    needs: ['[TOOL_CALLS]'],
    opens: ['['],
    newBody: ({ sink, accepts, many }) => new JsonCall(sink, accepts, many, 'ends'),
    around: (name) => object(name, 'arguments'),
    list: ['[', ', ', ']'],
  },
  deepSeek: {
    ...deepSeekForm,
    parsers: ['deepseek_v3'],
    written: /<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>[^\s<]+\n```json\n/,
    newBody: ({ sink, accepts, many }) => new NamedCall(sink, accepts, deepSeekHead, many),
    around: (name) => [
      `${deepSeek.beginCall}function${deepSeek.separator}${name}\n\`\`\`json\n`,
      `\n\`\`\`${deepSeek.endCall}`,
    ],
    list: ['', '\n', ''],
  },
  deepSeekBare: {
    ...deepSeekForm,
    parsers: ['deepseek_v31'],
    written: /<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>(?!function<)[^\s<]+<｜tool▁sep｜>/,
    newBody: ({ sink, accepts, many }) => new NamedCall(sink, accepts, deepSeekBareHead, many),
    around: (name) => [`${deepSeek.beginCall}${name}${deepSeek.separator}`, deepSeek.endCall],
    list: ['', '', ''],
  },
  /** Of version 3.1; no parser of vLLM reads it. */
  functionary: {
    ...common,
    parsers: [],
    begin: '<function=',
    end: '</function>',
    written: /<function=[^<>\s]+>\s*\{/,
    opens: [''],
    newBody: ({ sink, accepts }) => new NamedCall(sink, accepts, functionaryHead, false),
    around: (name) => [`${name}>`, ''],
  },
  nemotronJson: { ...listBetween('<TOOLCALL>', '</TOOLCALL>'), parsers: ['nemotron_json'] },
  /** A list that is all of the answer; behind text, in markers that vLLM reads of these models too. */
  xlamJson: {
    ...common,
    ...qwen,
    parsers: ['xlam'],
    written: /(?:^|\n)\[\{\s*"name":\s*"[^"]+",\s*"arguments":/,
    bare: true,
    opens: ['['],
    newBody: ({ sink, accepts, many }) => new JsonCall(sink, accepts, many, 'ends'),
    around: (name) => object(name, 'arguments'),
    list: ['[', ', ', ']'],
  },
  miniMaxJson: {
    ...listBetween('<tool_calls>', '</tool_calls>'),
    parsers: ['minimax'],
    written: /<tool_calls>\s*\{\s*"name"/,
    list: ['\n', '\n', '\n'],
  },
  /** Of version 4. */
  gemma: { ...gemmaForm('<|tool_call>', '<tool_call|>', '<|"|>'), parsers: ['gemma4'] },
  functionGemma: {
    ...gemmaForm('<start_function_call>', '<end_function_call>', '<escape>'),
    parsers: ['functiongemma'],
  },
  aprielJson: { ...listBetween('<tool_calls>', '</tool_calls>'), parsers: ['hunyuan_a13b'] },
} satisfies Record<string, CallForm>;

export type CallFormName = keyof typeof forms;

export const callForms: Readonly<Record<CallFormName, CallForm>> = forms;
