// Bodies of OpenAI's Responses as the requests that other routes make, with what the answer repeats of them. Pure.

import type { Wording } from '../body/api-error.js';
import type { GenerationDefaults } from '../parts/generation-defaults.js';
import { readRequest, type ApiRequest } from './parse-request.js';
import { refuseMedia } from './refuse-media.js';
import { readItems, type RawItem } from './response-items.js';
import { validateBody, type Fields } from '../body/validate-body.js';

export interface ResponsesRequest {
  readonly parsed: ApiRequest;
  /** As the client set them. */
  readonly fields: Fields;
  /** Whether reasoning is told in the form that stands for it, too. */
  readonly sealsReasoning: boolean;
}

/** Errors of what the route has in common with others name the fields as it does. */
export const responsesWordings: readonly Wording[] = [
  { ours: /\btools\.(\d+)\.function\b/g, theirs: 'tools.$1' },
  { ours: /\bresponse_format\.json_schema\b/g, theirs: 'text.format' },
  { ours: /\bresponse_format\b/g, theirs: 'text.format' },
  { ours: /\bmax_tokens\b/g, theirs: 'max_output_tokens' },
  { ours: /^messages\b/, theirs: 'input' },
];

/** @throws ApiError invalid_request, with every violation */
export function parseResponses(
  body: unknown,
  defaults: GenerationDefaults,
  randomSeed: bigint,
): ResponsesRequest {
  refuseMedia((body as { input?: unknown } | null)?.input, 'input');
  const fields = validateBody('responses', body);
  const included = (fields['include'] ?? []) as readonly string[];
  return {
    fields,
    parsed: readRequest('chat', chatFields(fields), defaults, randomSeed),
    sealsReasoning: included.length > 0,
  };
}

interface RawTool {
  readonly type: 'function';
  readonly name: string;
  readonly description?: string | null;
  readonly parameters?: object | null;
  readonly strict?: boolean | null;
}

/** Templates show tools as they get them: what says nothing stays away. */
function readTool({ type, name, description, parameters, strict }: RawTool): object {
  const said = Object.entries({ name, description, parameters, strict }).filter(([, value]) => value);
  return { type, function: Object.fromEntries(said) };
}

interface RawFormat extends Fields {
  readonly type: 'text' | 'json_object' | 'json_schema';
}

/** The same request in the fields of a chat. */
function chatFields(fields: Fields): Fields {
  const { input, instructions, max_output_tokens, tools, tool_choice, text, reasoning, ...same } = fields;
  const format = (text as { format?: RawFormat | null } | undefined)?.format ?? null;
  const effort = (reasoning as { effort?: string | null } | undefined)?.effort ?? null;
  const set = {
    ...same,
    messages: [
      ...(instructions === undefined ? [] : [{ role: 'system', content: instructions }]),
      ...readItems(input as string | readonly RawItem[]),
    ],
    max_tokens: max_output_tokens,
    tools: (tools as readonly RawTool[] | undefined)?.map(readTool),
    tool_choice: typeof tool_choice === 'object' ? named(tool_choice as { name: string }) : tool_choice,
    response_format: format === null ? undefined : responseFormat(format),
    reasoning_effort: effort ?? undefined,
  };
  return Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined));
}

const named = ({ name }: { readonly name: string }): object => ({ type: 'function', function: { name } });

const responseFormat = ({ type, ...described }: RawFormat): object =>
  type === 'json_schema' ? { type, json_schema: described } : { type, schema: described['schema'] };
