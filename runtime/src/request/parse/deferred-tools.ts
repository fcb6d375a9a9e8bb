// Tools of Anthropic's Messages that the model is not shown before a result refers to them: agents with many have one to
// search the others.

import type { Fields, Violation } from '../body/validate-body.js';
import { blocksOf, resultsOf, type RawTurn } from './messages-conversation.js';
import type { ApiRequest } from './parse-request.js';

interface RawTool {
  readonly name: string;
  readonly defer_loading?: boolean | null;
}

/** Names of the tools that the model does not know of yet. */
export function deferredIn({ tools = [], messages }: Fields): ReadonlySet<string> {
  const deferred = (tools as readonly RawTool[]).filter((tool) => tool.defer_loading === true);
  const names = new Set(deferred.map(({ name }) => name));
  if (names.size > 0) for (const name of referredTo(messages as readonly RawTurn[])) names.delete(name);
  return names;
}

function referredTo(turns: readonly RawTurn[]): string[] {
  return turns
    .flatMap(({ content }) => blocksOf(content))
    .flatMap((block) => (block.type === 'tool_result' ? resultsOf(block) : []))
    .flatMap((block) => (block.type === 'tool_reference' ? [block.tool_name] : []));
}

export function deferralViolations(
  { tools = [], tool_choice }: Fields,
  deferred: ReadonlySet<string>,
): Violation[] {
  const violations: Violation[] = [];
  if (deferred.size > 0 && (tools as readonly RawTool[]).every(({ name }) => deferred.has(name)))
    violations.push({ param: 'tools', message: 'tools are all defer_loading: one has to find the others' });
  const { name } = (tool_choice ?? {}) as { readonly name?: string };
  if (name !== undefined && deferred.has(name))
    violations.push({
      param: 'tool_choice',
      message: `tool_choice names ${name}, which is defer_loading: no result refers to it`,
    });
  return violations;
}

export function withoutTools(request: ApiRequest, names: ReadonlySet<string>): ApiRequest {
  const { tools: use } = request;
  if (use === null || names.size === 0) return request;
  const isShown = (index: number): boolean => !names.has(use.tools[index]?.name ?? '');
  const given = use.given.filter((_, index) => isShown(index));
  const tools = use.tools.filter((_, index) => isShown(index));
  return { ...request, tools: { ...use, given, tools } };
}
