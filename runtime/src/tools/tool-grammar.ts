// The grammar of an answer that must call tools, or whose calls must follow their schemas: text for the engine's grammar
// compiler, in formats of XGrammar's structural tags.

import type { GrammarKind, ToolCallsText } from '@llmservice/native';
import type { Marker, ToolDialect } from './dialect.js';
import { writtenAs } from './exact-json.js';
import type { Schema, Tool, ToolUse } from './tool.js';
import { noteNames } from './written-names.js';

export interface GrammarSource {
  readonly kind: GrammarKind;
  readonly text: string;
}

/** Spaces or line breaks between the parts of JSON, as for other structured output. */
export const maxWhitespace = 32;
/** Around values in XML: what is none of a value stays unambiguous. */
const maxXmlWhitespace = 1;

/**
 * In the place of markers that are tokens, and so no text: control characters, which no JSON has. Of these XGrammar writes
 * no number, which a letter or a digit behind it would continue.
 */
export const standInCharacters = ['\u0007', '\b', '\v', '\f', '\u001b'] as const;

/** A format of XGrammar's structural tags. */
export type Format = Readonly<Record<string, unknown>>;

/**
 * @param other grammar asked of an answer that is text; null: any
 * @param schemaOf what a tool's arguments must match
 * @returns null where the answer is free
 */
export function toolGrammar(
  { tools, choice, parallel }: ToolUse,
  dialect: ToolDialect,
  other: GrammarSource | null,
  schemaOf: (tool: Tool, style: ToolDialect['style']) => Schema,
): GrammarSource | null {
  const otherwise = choice !== 'auto' ? 'nothing' : other !== null ? 'grammar' : 'anything';
  if (otherwise === 'anything' && !tools.some(({ strict }) => strict)) return null;
  const isNamed = typeof choice === 'object';
  const called = isNamed ? tools.filter(({ name }) => name === choice.name) : tools;
  const calls = called.map((tool) => callOf(tool, dialect, schemaOf(tool, dialect.style)));
  const many = parallel && !isNamed;
  const body = dialect.list === null ? oneOf(calls.map(asSequence)) : listOf(calls, dialect.list, many);
  const blocks = many && dialect.list === null;
  const otherFormat = other === null ? {} : formatOf(other);
  const { begin, end, bare } = dialect;
  if (!bare && begin.id !== null && end?.id !== null) {
    const instead = { nothing: null, anything: true as const, grammar: otherFormat }[otherwise];
    const text: ToolCallsText = {
      begin: begin.id,
      end: end?.id ?? null,
      within: standInsOf(dialect).map(({ id, character }) => ({ id, text: character })),
      body,
      otherwise: instead,
      many: blocks,
    };
    return { kind: 'toolCalls', text: writtenAs(text) };
  }
  const format = bare
    ? bareFormat(body, otherwise, otherFormat, dialect.opens)
    : spelledFormat(body, otherwise, otherFormat, { begin: begin.text, end: end?.text ?? '', many: blocks });
  return { kind: 'format', text: writtenAs(format) };
}

type Otherwise = 'nothing' | 'anything' | 'grammar';

/** A call that has no marker is all of an answer. */
function bareFormat(body: Format, otherwise: Otherwise, other: Format, opens: readonly string[]): Format {
  // Free text that begins as calls do would be read as them.
  const begins = opens.map((open) => open.replace('[', '\\[')).join('');
  const prose = { type: 'grammar', grammar: `root ::= "" | [^${begins} \\t\\r\\n] [^]*\n` };
  return { nothing: body, grammar: oneOf([body, other]), anything: oneOf([body, prose]) }[otherwise];
}

/** Markers that are text like any other. */
function spelledFormat(
  body: Format,
  otherwise: Otherwise,
  other: Format,
  { begin, end, many }: { readonly begin: string; readonly end: string; readonly many: boolean },
): Format {
  const tags = [{ type: 'tag', begin, content: body, end }];
  if (otherwise === 'anything') return { type: 'triggered_tags', triggers: [begin], tags };
  const calls = {
    type: 'tags_with_separator',
    tags,
    separator: '\n',
    at_least_one: true,
    stop_after_first: !many,
  };
  return otherwise === 'grammar' ? oneOf([calls, other]) : calls;
}

interface CallFormat {
  readonly before: string;
  readonly content: Format;
  readonly after: string;
}

/** A call as the chat templates write it. */
function callOf({ name }: Tool, dialect: ToolDialect, schema: Schema): CallFormat {
  const { around, style } = dialect;
  const [before, after] = around(name);
  const content = {
    type: 'json_schema',
    json_schema: schema,
    style,
    max_whitespace_cnt: style === 'json' ? maxWhitespace : maxXmlWhitespace,
  };
  return { before: withStandIns(before, dialect), content, after: withStandIns(after, dialect) };
}

const literal = (value: string): Format => ({ type: 'const_string', value });

const asSequence = ({ before, content, after }: CallFormat): Format => ({
  type: 'sequence',
  elements: [literal(before), content, ...(after === '' ? [] : [literal(after)])],
});

/** Several calls in one block. */
function listOf(
  calls: readonly CallFormat[],
  [open, separator, close]: NonNullable<ToolDialect['list']>,
  many: boolean,
): Format {
  const items = {
    type: 'tags_with_separator',
    tags: calls.map(({ before, content, after }) => ({ type: 'tag', begin: before, content, end: after })),
    separator,
    at_least_one: true,
    stop_after_first: !many,
  };
  if (open === '') return items;
  // Words of SentencePiece begin with a space.
  const space = { type: 'optional', content: literal(' ') };
  return { type: 'sequence', elements: [space, literal(open), items, literal(close)] };
}

interface StandIn extends Marker {
  readonly id: number;
  readonly character: string;
}

/** Of markers within calls. */
const standInsOf = ({ within }: ToolDialect): readonly StandIn[] =>
  within.flatMap((marker, i) =>
    marker.id === null ? [] : { ...marker, id: marker.id, character: standInCharacters[i] ?? '' },
  );

const withStandIns = (text: string, dialect: ToolDialect): string =>
  standInsOf(dialect).reduce((whole, marker) => whole.replaceAll(marker.text, marker.character), text);

/** The grammar of a text as a format. */
export function formatOf({ kind, text }: GrammarSource): Format {
  const schema = (json_schema: unknown): Format => ({
    type: 'json_schema',
    json_schema,
    max_whitespace_cnt: maxWhitespace,
  });
  switch (kind) {
    case 'json':
      return schema({ type: 'object' });
    case 'jsonSchema': {
      const json = JSON.parse(text) as unknown;
      noteNames(json, text);
      return schema(json);
    }
    case 'regex':
      return { type: 'regex', pattern: text };
    case 'ebnf':
      return { type: 'grammar', grammar: text };
    case 'format':
    case 'toolCalls':
      throw new Error(`a grammar of text is not of kind ${kind}`);
  }
}

export const oneOf = (elements: readonly Format[]): Format => {
  const [first, ...others] = elements;
  return first !== undefined && others.length === 0 ? first : { type: 'or', elements };
};
