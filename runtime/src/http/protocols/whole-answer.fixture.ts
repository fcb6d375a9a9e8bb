// One question with tools in each protocol that has them, streamed or not, and what its answer says in the same words.

import type { ScriptedServer } from '../scripted-server.fixture.js';
import { body as messagesBody, messagesClient, tools as messagesTools } from './messages.fixture.js';
import { body as responsesBody, responsesClient, tools as responsesTools } from './responses.fixture.js';
import OpenAI from 'openai';

export interface Said {
  readonly text: string;
  /** Name and text of the arguments of each, without space where that is JSON. */
  readonly calls: readonly string[];
  /** In the protocol's own word. */
  readonly ended: string | null | undefined;
}

export type Choice = 'auto' | 'required' | 'none';

const callOf = (name: string, given: string): string => {
  try {
    return `${name} ${JSON.stringify(JSON.parse(given))}`;
  } catch {
    return `${name} ${given}`;
  }
};

/** What a tool takes; undefined: one text. */
export type Parameters = Readonly<Record<string, unknown>> | undefined;

async function chat(
  { url }: ScriptedServer,
  stream: boolean,
  choice: Choice,
  taken?: Parameters,
): Promise<Said> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  const tools = responsesTools.map(({ name, parameters }) => ({
    type: 'function' as const,
    function: { name, parameters: taken ?? parameters },
  }));
  const messages = [{ role: 'user' as const, content: 'x' }];
  const asked = { model: 'tiny', messages, tools, tool_choice: choice };
  if (!stream) {
    const [answer] = (await client.chat.completions.create(asked)).choices;
    const calls = answer?.message.tool_calls ?? [];
    return {
      text: answer?.message.content ?? '',
      calls: calls.flatMap((call) =>
        call.type === 'function' ? callOf(call.function.name, call.function.arguments) : [],
      ),
      ended: answer?.finish_reason,
    };
  }
  let text = '';
  let ended: string | null = null;
  const calls: { name: string; given: string }[] = [];
  for await (const { choices } of await client.chat.completions.create({ ...asked, stream })) {
    text += choices[0]?.delta.content ?? '';
    ended = choices[0]?.finish_reason ?? ended;
    for (const { index, function: called } of choices[0]?.delta.tool_calls ?? []) {
      const { name, given } = calls[index] ?? { name: called?.name ?? '', given: '' };
      calls[index] = { name, given: given + (called?.arguments ?? '') };
    }
  }
  return { text, calls: calls.map(({ name, given }) => callOf(name, given)), ended };
}

async function responses(
  server: ScriptedServer,
  stream: boolean,
  tool_choice: Choice,
  taken?: Parameters,
): Promise<Said> {
  const client = responsesClient(server);
  const tools = responsesTools.map((tool) => ({ ...tool, parameters: taken ?? tool.parameters }));
  const asked = { ...responsesBody, tools, tool_choice };
  let response = stream ? null : await client.responses.create(asked);
  if (stream)
    for await (const event of await client.responses.create({ ...asked, stream }))
      if ('response' in event) response = event.response;
  const output = response?.output ?? [];
  return {
    text: output.flatMap((item) => (item.type === 'message' ? item.content.map(textOf) : [])).join(''),
    calls: output.flatMap((item) => (item.type === 'function_call' ? callOf(item.name, item.arguments) : [])),
    ended: response?.status,
  };
}

const textOf = (part: { readonly text: string } | { readonly refusal: string }): string =>
  'text' in part ? part.text : part.refusal;

const anthropicChoices = { auto: 'auto', required: 'any', none: 'none' } as const;

async function messages(
  server: ScriptedServer,
  stream: boolean,
  choice: Choice,
  taken?: Parameters,
): Promise<Said> {
  const client = messagesClient(server);
  const tools = messagesTools.map(({ name, input_schema }) => ({
    name,
    input_schema: { ...(taken ?? input_schema), type: 'object' as const },
  }));
  const asked = { ...messagesBody, tools, tool_choice: { type: anthropicChoices[choice] } };
  if (!stream) {
    const { content, stop_reason } = await client.messages.create(asked);
    const calls = content.flatMap((block) => (block.type === 'tool_use' ? block : []));
    return {
      text: content.flatMap((block) => (block.type === 'text' ? block.text : [])).join(''),
      calls: calls.map(({ name, input }) => callOf(name, givenIn(input))),
      ended: stop_reason,
    };
  }
  let text = '';
  let ended: string | null = null;
  const calls: { name: string; given: string }[] = [];
  for await (const event of await client.messages.create({ ...asked, stream })) {
    if (event.type === 'message_delta') ended = event.delta.stop_reason;
    if (event.type === 'content_block_start' && event.content_block.type === 'tool_use')
      calls.push({ name: event.content_block.name, given: '' });
    if (event.type !== 'content_block_delta') continue;
    if (event.delta.type === 'text_delta') text += event.delta.text;
    const last = calls.at(-1);
    if (event.delta.type === 'input_json_delta' && last !== undefined) last.given += event.delta.partial_json;
  }
  return { text, calls: calls.map(({ name, given }) => callOf(name, given)), ended };
}

/** Arguments that are no JSON stand under a key of their own. */
function givenIn(input: unknown): string {
  const { INVALID_JSON: text } = input as { readonly INVALID_JSON?: string };
  return text ?? JSON.stringify(input);
}

export const protocols = { chat, responses, messages };
