// The fields of each route: those of the families, in the order of the OpenAI document, those whose type depends on the
// route, and those that this build knows and does not honour, with the values that ask for nothing.
// A field in no list, or a refused one that asks for something, is a 400: nothing is ever silently ignored.

import { boolean, is, never, text, tokenIds } from '../body/field-schemas.js';
import type {
  FieldTable,
  GenerationKind,
  JsonSchema,
  RouteKind,
  ValueOf,
  ValuesOf,
} from '../body/field-table.js';
import {
  alternativesFields,
  detailFields,
  echoField,
  logprobsOf,
  unreportedDetails,
} from '../fields/answer-details.js';
import { formatFields, schemaField } from '../fields/answer-format.js';
import { batchFields, refusedBatchFields } from '../fields/batch-fields.js';
import { bestOf, choiceFields, seedFields } from '../fields/choices.js';
import { derenderFields, refusedOnDerender } from '../fields/derender-fields.js';
import { inferFields } from '../fields/infer-fields.js';
import { keptConversations, refusedOfConversations } from '../fields/kept-conversations.js';
import { maxTokensFields, maxTokensOrNone, truncationFields } from '../fields/max-tokens.js';
import { conversationFields } from '../fields/messages.js';
import { messagesFields, refusedMessagesFields } from '../fields/messages-fields.js';
import { inputFields, predictFields, promptFields } from '../fields/prompt.js';
import { endingFields } from '../fields/prompt-ending.js';
import { repetitionFields } from '../fields/repetition.js';
import { refusedResponsesFields, responsesFields } from '../fields/responses-fields.js';
import { penaltyFields, samplingFields } from '../fields/sampling.js';
import { callerFields, modelFields, schedulingFields } from '../fields/scheduling.js';
import { classifyFields, rerankFields, scoreFields } from '../fields/score-fields.js';
import { servedAnyway } from '../fields/served-anyway.js';
import { endFields, stopFields } from '../fields/stopping.js';
import { streamFields } from '../fields/streaming.js';
import { thinkingBudgetFields, thinkingFields } from '../fields/thinking.js';
import { tokenRuleFields } from '../fields/token-rules.js';
import { toolFields } from '../fields/tool-fields.js';

export const honouredFields = {
  ...modelFields,
  ...conversationFields,
  ...streamFields,
  ...maxTokensFields,
  ...samplingFields,
  ...choiceFields,
  ...tokenRuleFields,
  ...thinkingBudgetFields,
  ...detailFields,
  ...truncationFields,
  ...seedFields,
  ...penaltyFields,
  ...stopFields,
  ...repetitionFields,
  ...formatFields,
  ...endFields,
  ...alternativesFields,
  ...schedulingFields,
  ...endingFields,
  ...toolFields,
  ...thinkingFields,
  ...callerFields,
} as const satisfies FieldTable;

/** Fields whose type depends on the route. */
export const fieldsOfRoute = {
  chat: logprobsOf.chat,
  completions: {
    ...maxTokensOrNone,
    ...logprobsOf.completions,
    ...promptFields,
    ...echoField,
    ...bestOf,
  },
  responses: responsesFields,
  ...messagesFields,
  predict: predictFields,
  infer: inferFields,
  embeddings: {
    ...inputFields,
    encoding_format: { enum: ['float', 'base64'] },
    // Not OpenAI's: what of the hidden states makes the embedding.
    pooling: { enum: ['last', 'mean', 'cls'] },
    add_special_tokens: boolean,
    // As text-embeddings-inference names it: what the text begins with, of the checkpoint's prompts.
    prompt_name: text,
    dimensions: { type: 'integer', minimum: 1, maximum: 65536 },
  },
  rerank: rerankFields,
  score: scoreFields,
  classify: classifyFields,
  batches: batchFields,
  ...keptConversations,
  generate: { prompt: text, add_special_tokens: boolean, ...schemaField },
  tokenize: {
    prompt: text,
    add_special_tokens: boolean,
    return_token_strs: boolean,
  },
  // They are decoded on the event loop.
  detokenize: { tokens: { ...tokenIds, minItems: 0 } },
  ...derenderFields,
  template: {},
  warmup: {},
} as const satisfies Readonly<Record<RouteKind, Readonly<Record<string, JsonSchema>>>>;

export const requiredFields = {
  chat: ['messages'],
  completions: ['prompt'],
  responses: ['input'],
  messages: ['messages', 'max_tokens'],
  countTokens: ['messages'],
  predict: [],
  infer: ['inputs'],
  embeddings: ['input'],
  rerank: ['query', 'documents'],
  score: ['text_1', 'text_2'],
  classify: ['input'],
  batches: ['input_file_id', 'endpoint', 'completion_window'],
  conversations: [],
  conversation: [],
  conversationItems: ['items'],
  generate: ['prompt'],
  tokenize: [],
  detokenize: ['tokens'],
  derenderChat: ['generate_response'],
  derenderCompletions: ['generate_responses'],
  template: ['messages'],
  warmup: [],
} as const satisfies Readonly<Record<RouteKind, readonly string[]>>;

type Honoured = typeof honouredFields;
type Own<Kind extends RouteKind> = (typeof fieldsOfRoute)[Kind];
type SchemasOf<Kind extends RouteKind> = Own<Kind> & {
  [
    Name in keyof Honoured as Kind extends Honoured[Name]['routes'][number]
      ? Exclude<Name, keyof Own<Kind>>
      : never
  ]: Honoured[Name]['schema'];
};
type Required<Kind extends RouteKind> = (typeof requiredFields)[Kind][number] & keyof SchemasOf<Kind>;

/** The fields of a route's body that was validated. */
export type BodyOf<Kind extends RouteKind> = ValuesOf<Omit<SchemasOf<Kind>, Required<Kind>>> & {
  readonly [Name in Required<Kind>]: ValueOf<SchemasOf<Kind>[Name]>;
};

type GenerationBody = { [Kind in GenerationKind]: BodyOf<Kind> }[GenerationKind];
type NamesOf<Body> = Body extends unknown ? keyof Body : never;
type ValueIn<Body, Name> = Body extends unknown ? (Name extends keyof Body ? Body[Name] : never) : never;

/** The fields of any route that generates. */
export type GenerationFields = {
  readonly [Name in NamesOf<GenerationBody>]?: ValueIn<GenerationBody, Name>;
};

export const isRequired = (kind: RouteKind, name: string): boolean =>
  (requiredFields[kind] as readonly string[]).includes(name);

const isEmpty: JsonSchema = {
  type: ['string', 'array', 'object'],
  maxLength: 0,
  maxItems: 0,
  maxProperties: 0,
};

/** Fields that no route honours but those above: by name, the schema of the values that ask for nothing and may pass. */
export const refusedFields: Readonly<Record<string, JsonSchema>> = {
  stream: is(false),
  n: is(1),
  best_of: is(1),
  echo: is(false),
  suffix: isEmpty,
  use_beam_search: is(false),
  length_penalty: is(1),
  early_stopping: is(false),
  functions: isEmpty,
  function_call: is('none', 'auto'),
  modalities: { type: 'array', items: is('text') },
  audio: never,
  prediction: never,
  web_search_options: never,
  verbosity: is('medium'),
  store: is(false),
  service_tier: is('auto', 'default'),
  chat_template: never,
  documents: isEmpty,
  add_generation_prompt: is(true),
  continue_final_message: is(false),
  detokenize: is(true),
  // Of conversations: the chat template writes them.
  add_special_tokens: is(false),
  spaces_between_special_tokens: is(true),
  return_token_ids: is(false),
  return_tokens_as_token_ids: is(false),
  ...unreportedDetails,
  ...servedAnyway,
};

/** In place of those, where a protocol has most of its fields for itself; a description says why. */
export const refusedFieldsOfRoute: Readonly<
  Partial<Record<RouteKind, Readonly<Record<string, JsonSchema>>>>
> = {
  responses: refusedResponsesFields,
  messages: refusedMessagesFields,
  countTokens: refusedMessagesFields,
  infer: {},
  batches: refusedBatchFields,
  ...refusedOnDerender,
  ...refusedOfConversations,
};
