// A request's attributes, by the names of OpenTelemetry's semantic conventions for HTTP and for generative AI
// (open-telemetry/semantic-conventions-genai, its inference spans); what those have no name for is under llmservice.*.

import type { Attributes } from '@opentelemetry/api';
import type { EndedRequest } from './ended-request.js';
import { answersByPrompt, phasesOf, totalUsage } from './request-totals.js';

/** The convention's word for what a route does; null: it generates nothing. */
export function operationOf(route: string | null): string | null {
  const path = route?.replace(/^\/openai/, '') ?? '';
  return operations.find(([pattern]) => pattern.test(path))?.[1] ?? null;
}

const operations: readonly (readonly [RegExp, string])[] = [
  [/^\/v1\/(chat\/completions|responses|messages)$/, 'chat'],
  [/^\/v1\/models\/\{name\}:predict$/, 'chat'],
  [/^\/v1\/embeddings$/, 'embeddings'],
  // The convention has no words for these, and leaves them to others.
  [/^(\/v[12])?\/rerank$/, 'rerank'],
  [/^(\/v1)?\/score$/, 'score'],
  [/^\/classify$/, 'classify'],
  [/^\/(v1\/completions|generate|warmup)$/, 'text_completion'],
];

/** Whether the span's status is an error: by the convention for HTTP servers, not where the client is answered with 4xx. */
export const isFailure = ({ status, errorCode }: EndedRequest): boolean =>
  status === null || status >= 500 || (errorCode !== null && status < 400);

/** @param withOldNames whether what had another name in 1.36 of the conventions is under that too */
export function spanAttributes(request: EndedRequest, operation: string, withOldNames: boolean): Attributes {
  const { id, route, model, key, status, errorCode, generations } = request;
  const given: Record<string, Attributes[string] | null> = {
    'http.request.method': 'POST',
    'http.route': route,
    'http.response.status_code': status,
    'error.type': errorCode ?? (status === null ? 'request_aborted' : null),
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': 'llmservice',
    'gen_ai.system': withOldNames ? 'llmservice' : null,
    'gen_ai.request.model': model,
    'gen_ai.response.model': model,
    'gen_ai.response.id': id,
    'llmservice.key.id': key,
    ...(generations.length === 0 ? {} : generationAttributes(request)),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) as Attributes;
}

function generationAttributes({
  generations,
  arrivedAt,
}: EndedRequest): Record<string, Attributes[string] | null> {
  const usage = totalUsage(generations);
  const choices = Math.max(...answersByPrompt(generations).map(({ length }) => length));
  const stream = generations.some((generation) => generation.stream);
  const firstAt = stream ? (phasesOf(generations).prefill?.to ?? null) : null;
  return {
    'gen_ai.request.stream': stream,
    'gen_ai.request.choice.count': choices === 1 ? null : choices,
    'gen_ai.request.max_tokens': generations[0]?.maxTokens ?? null,
    'gen_ai.response.finish_reasons': generations.map(({ finishReason }) => finishReason),
    'gen_ai.response.time_to_first_chunk': firstAt === null ? null : (firstAt - arrivedAt) / 1000,
    'gen_ai.usage.input_tokens': usage.promptTokens,
    'gen_ai.usage.output_tokens': usage.completionTokens,
    'gen_ai.usage.cache_read.input_tokens': usage.cachedTokens,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
    'llmservice.usage.accepted_draft_tokens': usage.acceptedDraftTokens,
  };
}
