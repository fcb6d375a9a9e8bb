// A scripted model on a whole replica: its answer is the script, by every protocol, streamed and not, at any temperature.

import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { toolCall } from '../builders/script.js';
import { writeScriptedCheckpoint } from '../builders/scripted-checkpoint.js';
import { demoCheckpoint, ReplicaProcess } from './replica-process.js';

jest.setTimeout(120_000);

const model = 'demo';
const task = 'Which colour does colour.txt name?';
const read = { path: '/work/colour.txt' };
const write = { path: '/work/answer.txt', content: 'teal, or "blue-green"\n' };
const script = {
  turns: [
    `I read the file first.\n${toolCall('read_file', read)}`,
    toolCall('write_file', write),
    'The colour is teal.',
  ],
  aside: 'A question about a colour, and colours again.',
};
const schema = (...names: string[]) => ({
  type: 'object' as const,
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names,
  additionalProperties: false,
});
const tools = [
  { name: 'read_file', parameters: schema('path') },
  { name: 'write_file', parameters: schema('path', 'content') },
];

const folder = mkdtempSync(join(tmpdir(), 'llmservice-scripted-'));
let replica: ReplicaProcess;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  writeScriptedCheckpoint(folder, script, demoCheckpoint);
  replica = await ReplicaProcess.start({ uri: folder });
  await replica.ready();
  openai = new OpenAI({ baseURL: `${replica.url}/v1`, apiKey: 'none', maxRetries: 0 });
  anthropic = new Anthropic({ baseURL: replica.url, apiKey: 'none', maxRetries: 0 });
});
afterAll(async () => {
  await replica.stop();
  rmSync(folder, { recursive: true });
});

interface Call {
  readonly name: string;
  readonly args: unknown;
}
interface Answer {
  readonly text: string;
  readonly calls: readonly Call[];
}
interface Manner {
  readonly isStreamed: boolean;
  readonly temperature: number;
  /** The grammar holds each call to its tool's schema. */
  readonly strict?: boolean;
  /** The answer has to be a call: the grammar takes nothing else. */
  readonly isRequired?: boolean;
}
/** @param results of the calls before: the conversation so far */
type Ask = (results: readonly string[], manner: Manner) => Promise<Answer>;

const calls = [
  { name: 'read_file', args: read },
  { name: 'write_file', args: write },
];

const asked: Readonly<Record<string, Ask>> = {
  chat: async (results, { isStreamed, temperature, strict = false, isRequired = false }) => {
    const history = results.flatMap((content, index) => {
      const { name, args } = calls[index]!;
      const id = `call_${String(index)}`;
      const made = { id, type: 'function' as const, function: { name, arguments: JSON.stringify(args) } };
      return [
        { role: 'assistant' as const, content: null, tool_calls: [made] },
        { role: 'tool' as const, tool_call_id: id, content },
      ];
    });
    const body = {
      model,
      temperature,
      messages: [{ role: 'user' as const, content: task }, ...history],
      tools: tools.map((each) => ({ type: 'function' as const, function: { ...each, strict } })),
      ...(isRequired ? { tool_choice: 'required' as const } : {}),
    };
    const completion: OpenAI.ChatCompletion = isStreamed
      ? await openai.chat.completions.stream(body).finalChatCompletion()
      : await openai.chat.completions.create(body);
    const { content, tool_calls: made = [] } = completion.choices[0]!.message;
    return {
      text: content ?? '',
      calls: made.flatMap((each) =>
        each.type === 'function'
          ? [{ name: each.function.name, args: JSON.parse(each.function.arguments) as unknown }]
          : [],
      ),
    };
  },

  responses: async (results, { isStreamed, temperature, strict = false, isRequired = false }) => {
    const history = results.flatMap((output, index) => {
      const { name, args } = calls[index]!;
      const call_id = `call_${String(index)}`;
      return [
        { type: 'function_call' as const, call_id, name, arguments: JSON.stringify(args) },
        { type: 'function_call_output' as const, call_id, output },
      ];
    });
    const body = {
      model,
      temperature,
      input: [{ role: 'user' as const, content: task }, ...history],
      tools: tools.map((each) => ({ ...each, type: 'function' as const, strict })),
      ...(isRequired ? { tool_choice: 'required' as const } : {}),
    };
    const response: OpenAI.Responses.Response = isStreamed
      ? await openai.responses.stream(body).finalResponse()
      : await openai.responses.create(body);
    return {
      text: response.output_text,
      calls: response.output.flatMap((item) =>
        item.type === 'function_call'
          ? [{ name: item.name, args: JSON.parse(item.arguments) as unknown }]
          : [],
      ),
    };
  },

  messages: async (results, { isStreamed, temperature, strict = false, isRequired = false }) => {
    const history = results.flatMap((content, index) => {
      const { name, args: input } = calls[index]!;
      const id = `toolu_${String(index)}`;
      return [
        { role: 'assistant' as const, content: [{ type: 'tool_use' as const, id, name, input }] },
        { role: 'user' as const, content: [{ type: 'tool_result' as const, tool_use_id: id, content }] },
      ];
    });
    const body = {
      ...{ model, temperature, max_tokens: 500 },
      messages: [{ role: 'user' as const, content: task }, ...history],
      tools: tools.map(({ name, parameters }) => ({ name, input_schema: parameters, strict })),
      ...(isRequired ? { tool_choice: { type: 'any' as const } } : {}),
    };
    const { content }: Anthropic.Message = isStreamed
      ? await anthropic.messages.stream(body).finalMessage()
      : await anthropic.messages.create(body);
    return {
      text: content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(''),
      calls: content.flatMap((block) =>
        block.type === 'tool_use' ? [{ name: block.name, args: block.input }] : [],
      ),
    };
  },
};

const manners: readonly Manner[] = [
  { isStreamed: false, temperature: 0 },
  { isStreamed: true, temperature: 0 },
  { isStreamed: true, temperature: 1 },
];

describe.each(Object.keys(asked))('by %s', (protocol) => {
  const answer = async (manner: Manner, ...results: string[]): Promise<Answer> => {
    const { text, calls } = await asked[protocol]!(results, manner);
    return { text: text.trim(), calls };
  };

  test.each(manners.flatMap((each) => [each, { ...each, strict: true }]))(
    'each answer is the one that is due: %j',
    async (manner) => {
      const first = { text: 'I read the file first.', calls: [calls[0]] };
      expect(await answer(manner)).toEqual(first);
      expect(await answer(manner, 'The colour is teal.')).toEqual({ text: '', calls: [calls[1]] });
      const last = { text: script.turns[2], calls: [] };
      expect(await answer(manner, 'The colour is teal.', 'written')).toEqual(last);
    },
  );

  test.each(manners.flatMap((each) => [each, { ...each, strict: true }]))(
    'a required call is the one that is due: %j',
    async (manner) => {
      const due = { text: '', calls: [calls[1]] };
      expect(await answer({ ...manner, isRequired: true }, 'The colour is teal.')).toEqual(due);
    },
  );
});

test('a request without tools gets the aside', async () => {
  const messages = [{ role: 'user' as const, content: task }];
  const { choices, usage } = await openai.chat.completions.create({ model, messages });
  expect(choices[0]).toMatchObject({ message: { content: script.aside }, finish_reason: 'stop' });
  expect(usage!.completion_tokens).toBeGreaterThan(5);
});
