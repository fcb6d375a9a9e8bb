// Bodies of OpenAI's Responses as the requests that other routes make, with what the answer repeats of them. Pure.

import { ApiError, type Wording } from '../body/api-error.js';
import type { GenerationDefaults } from '../parts/generation-defaults.js';
import { readRequest, type ApiRequest } from './parse-request.js';
import { refuseMedia } from './refuse-media.js';
import { readItems, type RawItem } from './response-items.js';
import { flatTools, type FlatTools, type RawFunction, type RawTool } from './tool-namespaces.js';
import { validateBody, type Fields } from '../body/validate-body.js';

export interface ResponsesRequest {
  readonly parsed: ApiRequest;
  /** As the client set them. */
  readonly fields: Fields;
  /** Whether reasoning is also returned encrypted. */
  readonly sealsReasoning: boolean;
  /** Functions in namespaces, by the names that the model calls them by. */
  readonly namespaced: FlatTools['namespaced'];
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
  const { functions, namespaced, places } = flatTools((fields['tools'] ?? []) as readonly RawTool[]);
  try {
    const parsed = readRequest('chat', chatFields(fields, functions), defaults, randomSeed);
    return { fields, parsed, sealsReasoning: included.length > 0, namespaced };
  } catch (error) {
    throw error instanceof ApiError ? error.worded(places) : error;
  }
}

/** Templates show tools as they get them: what says nothing stays away. */
function readTool({ type, name, description, parameters, strict }: RawFunction): object {
  const said = Object.entries({ name, description, parameters, strict }).filter(([, value]) => value);
  return { type, function: Object.fromEntries(said) };
}

interface RawFormat extends Fields {
  readonly type: 'text' | 'json_object' | 'json_schema';
}

/** The same request in the fields of a chat. */
function chatFields(fields: Fields, functions: readonly RawFunction[]): Fields {
  const { input, instructions, max_output_tokens, tool_choice, text, reasoning, ...same } = fields;
  const format = (text as { format?: RawFormat | null } | undefined)?.format ?? null;
  const effort = (reasoning as { effort?: string | null } | undefined)?.effort ?? null;
  const set = {
    ...same,
    messages: [
      ...(instructions === undefined ? [] : [{ role: 'system', content: instructions }]),
      ...readItems(input as string | readonly RawItem[]),
    ],
    max_tokens: max_output_tokens,
    tools: functions.map(readTool),
    tool_choice: typeof tool_choice === 'object' ? named(tool_choice as { name: string }) : tool_choice,
    response_format: format === null ? undefined : responseFormat(format),
    reasoning_effort: effort ?? undefined,
  };
  return Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined));
}

const named = ({ name }: { readonly name: string }): object => ({ type: 'function', function: { name } });

const responseFormat = ({ type, ...described }: RawFormat): object =>
  type === 'json_schema' ? { type, json_schema: described } : { type, schema: described['schema'] };
