// The form of a family's table of fields: by name, the routes that honour a field and the JSON schema of its value. The
// types of the values follow from the schemas, which is why tables are written `as const`.

import type { FromSchema, JSONSchema } from 'json-schema-to-ts';

/** Routes that generate from the fields of OpenAI and vLLM. */
export type GenerationKind = 'chat' | 'completions' | 'predict' | 'generate';
export type RouteKind =
  | GenerationKind
  | 'responses'
  | 'messages'
  | 'countTokens'
  | 'infer'
  | 'embeddings'
  | 'rerank'
  | 'score'
  | 'classify'
  | 'batches'
  | 'conversations'
  | 'conversation'
  | 'conversationItems'
  | 'tokenize'
  | 'detokenize'
  | 'derenderChat'
  | 'derenderCompletions'
  | 'template'
  | 'warmup';

/** Members of a JSON object by name. */
export type Fields = Readonly<Record<string, unknown>>;
export type JsonSchema = Fields;

export interface HonouredField {
  readonly routes: readonly RouteKind[];
  /** JSON schema of the value; null always counts as absent. */
  readonly schema: JsonSchema;
}

export type FieldTable = Readonly<Record<string, HonouredField>>;

declare const passed: unique symbol;

/** A schema that says by conditions (`if`), which types cannot follow, that it lets pass a `Value`. */
export interface Conditional<Value> extends JsonSchema {
  readonly [passed]?: Value;
}

/** What a schema lets pass. */
export type ValueOf<Schema> = typeof passed extends keyof Schema
  ? NonNullable<Schema[typeof passed]>
  : Schema extends JSONSchema
    ? FromSchema<Schema>
    : never;

/** Values of fields by name, as a validated body has them. */
export type ValuesOf<Schemas> = {
  readonly [Name in keyof Schemas]?: ValueOf<Schemas[Name]> | undefined;
};

/** Values of the fields of a table. */
export type TableValues<Table extends FieldTable> = ValuesOf<{
  [Name in keyof Table]: Table[Name]['schema'];
}>;

export const all = ['chat', 'completions', 'predict', 'generate'] as const;
export const openAi = ['chat', 'completions'] as const;
/** Routes that take a prompt's last states, and generate nothing. */
export const pooled = ['embeddings', 'rerank', 'score', 'classify'] as const;
/** Routes whose requests say whose they are, and whose cached prefixes they share, in OpenAI's and vLLM's fields. */
export const everyOpenAi = [...openAi, ...pooled] as const;
export const templated = ['chat', 'predict'] as const;
/** Routes that take a conversation as a chat does, to answer or to show it. */
export const conversed = ['chat', 'tokenize', 'template'] as const;
/** Routes that render a chat template. */
export const rendered = [...conversed, 'predict'] as const;
/** Protocols that have most of their fields for themselves. */
export const typed = ['responses', 'messages'] as const;
