// The grammar of an answer that must call tools, or whose calls must follow their schemas: text for the engine's grammar
// compiler, in formats of XGrammar's structural tags.

import type { GrammarKind, ToolCallsText } from '@llmservice/native';
import type { ToolDialect } from './dialect.js';
import { writtenAs } from './exact-json.js';
import type { Schema, Tool, ToolUse } from './tool.js';
import { noteNames } from './written-names.js';

export interface GrammarSource {
  readonly kind: GrammarKind;
  readonly text: string;
}

/** Spaces or line breaks between the parts of JSON, as for other structured output. */
const maxWhitespace = 32;
/** Around values in XML: what is none of a value stays unambiguous. */
const maxXmlWhitespace = 1;

/** A format of XGrammar's structural tags. */
type Format = Readonly<Record<string, unknown>>;

/**
 * @param other grammar asked of an answer that is text; null: any
 * @param schemaOf what a tool's arguments must match
 * @returns null where the answer is free
 */
export function toolGrammar(
  { tools, choice, parallel }: ToolUse,
  dialect: ToolDialect,
  other: GrammarSource | null,
  schemaOf: (tool: Tool) => Schema,
): GrammarSource | null {
  const otherwise = choice !== 'auto' ? 'nothing' : other !== null ? 'grammar' : 'anything';
  if (otherwise === 'anything' && !tools.some(({ strict }) => strict)) return null;
  const isNamed = typeof choice === 'object';
  const called = isNamed ? tools.filter(({ name }) => name === choice.name) : tools;
  const body = oneOf(called.map((tool) => bodyOf(tool, dialect.kind, schemaOf(tool))));
  const many = parallel && !isNamed;
  const otherFormat = other === null ? {} : formatOf(other);
  const { begin, end } = dialect;
  if (!dialect.bare && begin.id !== null && end !== null && end.id !== null) {
    const instead = { nothing: null, anything: true as const, grammar: otherFormat }[otherwise];
    const text: ToolCallsText = { begin: begin.id, end: end.id, body, otherwise: instead, many };
    return { kind: 'toolCalls', text: writtenAs(text) };
  }
  const format = dialect.bare
    ? bareFormat(body, otherwise, otherFormat)
    : spelledFormat(body, otherwise, otherFormat, { begin: begin.text, end: end?.text ?? '', many });
  return { kind: 'format', text: writtenAs(format) };
}

type Otherwise = 'nothing' | 'anything' | 'grammar';

/** A call that has no marker is all of an answer. */
function bareFormat(body: Format, otherwise: Otherwise, other: Format): Format {
  // Free text that begins with an object would be read as a call.
  const prose = { type: 'grammar', grammar: 'root ::= "" | [^{ \\t\\r\\n] [^]*\n' };
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

/** What stands between the markers, as the chat templates write it. */
function bodyOf({ name }: Tool, kind: ToolDialect['kind'], schema: Schema): Format {
  const around = (before: string, style: string, whitespace: number, after: string): Format => ({
    type: 'sequence',
    elements: [
      { type: 'const_string', value: before },
      { type: 'json_schema', json_schema: schema, style, max_whitespace_cnt: whitespace },
      { type: 'const_string', value: after },
    ],
  });
  switch (kind) {
    case 'qwenJson':
      return around(`\n{"name": "${name}", "arguments": `, 'json', maxWhitespace, '}\n');
    case 'qwenXml':
      return around(`\n<function=${name}>`, 'qwen_xml', maxXmlWhitespace, '</function>\n');
    case 'llamaJson':
      return around(`{"name": "${name}", "parameters": `, 'json', maxWhitespace, '}');
  }
}

/** The grammar of a text as a format. */
function formatOf({ kind, text }: GrammarSource): Format {
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

const oneOf = (elements: readonly Format[]): Format => {
  const [first, ...others] = elements;
  return first !== undefined && others.length === 0 ? first : { type: 'or', elements };
};
