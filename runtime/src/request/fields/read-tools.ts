// The tools of a chat request: what an answer may call, what the template gets of them, and what their calls
// must match.

import { isObject } from '@llmservice/checkpoint';
import type { CallForm } from '../../tools/call-forms.js';
import type { Schema, Tool, ToolUse } from '../../tools/tool.js';
import { JsonPatterns } from '../json-schema/json-patterns.js';
import { unsupportedInSchema } from '../json-schema/json-schema-support.js';
import { schemaToCompile } from '../json-schema/schema-formats.js';
import { invalidRequest, violationAt, type Violation } from '../body/violation.js';
import { functionOf, patternOfInput, type RawFunctionTool } from './custom-tools.js';
import type { NamedTool, RawChoice, ToolFields } from './tool-fields.js';

export interface RequestTools extends ToolUse {
  /** Those that may be called, as functions: what the chat template gets. */
  readonly given: readonly RawFunctionTool[];
  /** Names of the custom tools, whose calls have an input. */
  readonly custom: ReadonlySet<string>;
}

/** Of one schema, as of structured output. */
const maxCharacters = 65_536;

/**
 * Null where the answer is to call none: without tools, or with tool_choice none, which leaves them out of the prompt too.
 * @throws ApiError invalid_request
 */
export function readTools(
  fields: ToolFields & { readonly ignore_eos?: boolean | undefined },
): RequestTools | null {
  const { tools: asked = [], tool_choice: choice = 'auto' } = fields;
  const given = asked.map((each): RawFunctionTool =>
    each.type === 'custom' ? { type: 'function', function: functionOf(each.custom) } : each,
  );
  const tools = given.map((each): Tool => ({
    name: each.function.name,
    parameters: each.function.parameters ?? null,
    strict: each.function.strict === true,
  }));
  const violations = [
    ...choiceViolations(tools, choice),
    ...tools.flatMap((tool, index) =>
      toolViolations(tools, tool, index).map(asked[index]?.type === 'custom' ? ofInput : same),
    ),
  ];
  if (given.length > 0 && fields.ignore_eos === true)
    violations.push(violationAt('ignore_eos', 'and tools exclude each other'));
  if (violations.length > 0) throw invalidRequest(violations);
  if (tools.length === 0 || choice === 'none') return null;
  const allowed = allowedNames(choice);
  const mayCall = ({ name }: { readonly name: string }): boolean => allowed?.includes(name) ?? true;
  return {
    given: given.filter((each) => mayCall(each.function)),
    custom: new Set(asked.flatMap((each) => (each.type === 'custom' ? each.custom.name : []))),
    tools: tools.filter(mayCall),
    choice: modeOf(choice),
    parallel: fields.parallel_tool_calls !== false,
  };
}

/** Null: every tool. */
function allowedNames(choice: RawChoice): readonly string[] | null {
  if (typeof choice === 'string' || choice.type !== 'allowed_tools') return null;
  return choice.allowed_tools.tools.map(nameOf);
}

function modeOf(choice: Exclude<RawChoice, 'none'>): ToolUse['choice'] {
  if (typeof choice === 'string') return choice;
  return choice.type === 'allowed_tools' ? choice.allowed_tools.mode : { name: nameOf(choice) };
}

const nameOf = (tool: NamedTool): string => (tool.type === 'custom' ? tool.custom.name : tool.function.name);

/** Whether the answer's calls follow a grammar. */
export function holdsCalls(use: ToolUse | null): boolean {
  return use !== null && (use.choice !== 'auto' || use.tools.some(({ strict }) => strict));
}

function choiceViolations(tools: readonly Tool[], choice: RawChoice): Violation[] {
  const violation = (rule: string): Violation[] => [violationAt('tool_choice', rule)];
  if (typeof choice === 'string')
    return choice === 'required' && tools.length === 0 ? violation('required needs tools') : [];
  const asked = allowedNames(choice) ?? (choice.type === 'allowed_tools' ? [] : [nameOf(choice)]);
  const names = tools.map((tool) => tool.name);
  const unknown = asked.filter((name) => !names.includes(name));
  return unknown.flatMap((name) =>
    violation(
      tools.length === 0
        ? `names ${name}, and needs tools`
        : `names ${name}, which is none of the tools: ${names.join(', ')}`,
    ),
  );
}

function toolViolations(
  tools: readonly Tool[],
  { name, parameters, strict }: Tool,
  index: number,
): Violation[] {
  const param = `tools.${String(index)}.function`;
  if (tools.findIndex((each) => each.name === name) < index)
    return [{ param: `${param}.name`, message: `${param}.name: there are two tools named ${name}` }];
  if (parameters === null) return [];
  const { length } = JSON.stringify(parameters);
  if (length > maxCharacters) {
    const message = `${param}.parameters has ${String(length)} characters; the most are ${String(maxCharacters)}`;
    return [{ param: `${param}.parameters`, message }];
  }
  return strict ? unsupportedInSchema(parameters, `${param}.parameters`, patternsOfArguments()) : [];
}

/** As the client wrote it. */
function ofInput({ param, message }: Violation): Violation {
  const written = (words: string): string =>
    words.replace(`function.${patternOfInput}`, 'custom.format.grammar.definition');
  return { param: written(param), message: written(message) };
}

const same = (violation: Violation): Violation => violation;

/**
 * What a grammar holds the arguments of a tool to: its schema, or any object where the tool is not strict and its
 * schema has what a grammar cannot hold to.
 */
export function schemaOfArguments({ parameters, strict }: Tool, style: CallForm['style']): Schema {
  if (parameters === null) return { type: 'object', properties: {}, additionalProperties: false };
  const patterns = patternsOfArguments(style === 'json' || !hasTextsAlone(parameters));
  const holds = strict || unsupportedInSchema(parameters, '', patterns).length === 0;
  return holds
    ? (schemaToCompile({ type: 'object', ...parameters }, patterns) as Schema)
    : { type: 'object' };
}

/**
 * In XML arguments that are texts stand as they are, where a backslash is one; within others texts stand as in JSON.
 * @param quoted whether patterns are of texts as JSON writes them
 */
const patternsOfArguments = (quoted = true): JsonPatterns => new JsonPatterns({ escaped: false, quoted });

/** As the input of a custom tool. */
function hasTextsAlone({ properties, additionalProperties }: Schema): boolean {
  const all = isObject(properties) ? Object.values(properties) : [];
  const areTexts = all.every((each) => isObject(each) && each['type'] === 'string');
  return all.length > 0 && areTexts && additionalProperties === false;
}
