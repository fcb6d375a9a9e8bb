// Tools of Anthropic's Messages that the model is not shown before a result refers to them: agents with many have one to
// search the others.

import { violationAt, type Violation } from '../body/violation.js';
import type { RawTurn } from '../fields/messages-fields.js';
import type { BodyOf } from '../validate/request-fields.js';
import { blocksOf, resultsOf } from './messages-conversation.js';
import type { ApiRequest } from './parse-request.js';

type MessagesFields = BodyOf<'countTokens'>;

/** Names of the tools that the model does not know of yet. */
export function deferredIn({ tools = [], messages }: MessagesFields): ReadonlySet<string> {
  const deferred = tools.filter((tool) => tool.defer_loading === true);
  const names = new Set(deferred.map(({ name }) => name));
  if (names.size > 0) for (const name of referredTo(messages)) names.delete(name);
  return names;
}

function referredTo(turns: readonly RawTurn[]): string[] {
  return turns
    .flatMap(({ content }) => blocksOf(content))
    .flatMap((block) => (block.type === 'tool_result' ? resultsOf(block) : []))
    .flatMap((block) => (block.type === 'tool_reference' ? [block.tool_name] : []));
}

export function deferralViolations(
  { tools = [], tool_choice: { name } = { type: 'auto' } }: MessagesFields,
  deferred: ReadonlySet<string>,
): Violation[] {
  const violations: Violation[] = [];
  if (deferred.size > 0 && tools.every(({ name }) => deferred.has(name)))
    violations.push(violationAt('tools', 'are all defer_loading: one has to find the others'));
  if (name !== undefined && deferred.has(name))
    violations.push(
      violationAt('tool_choice', `names ${name}, which is defer_loading: no result refers to it`),
    );
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
