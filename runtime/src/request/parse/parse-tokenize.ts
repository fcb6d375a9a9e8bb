// Bodies of tokenize, detokenize and apply-template as typed values: vLLM's fields for the first two, and for the last
// llama.cpp's, which are those of a chat.

import { invalidRequest, violationAt } from '../body/violation.js';
import { readMessages } from '../fields/messages.js';
import type { TextSource } from '../fields/prompt.js';
import { readEnding, violationsOfEnding } from '../fields/prompt-ending.js';
import { readTools, type RequestTools } from '../fields/read-tools.js';
import { readModel } from '../fields/scheduling.js';
import { readTemplateKwargs, readThinks } from '../fields/thinking.js';
import type { GenerationFields } from '../validate/request-fields.js';
import { validateBody } from '../validate/validate-body.js';
import { readDocuments, withThinking, type MessagesSource, type PromptSource } from './prompt-source.js';

export interface TemplateRequest {
  /** The name that the client asked for; null: it did not say. */
  readonly model: string | null;
  readonly source: MessagesSource;
  /** Null: none, as in the prompt of a chat. */
  readonly tools: RequestTools | null;
}

export interface TokenizeRequest {
  readonly model: string | null;
  readonly source: PromptSource;
  readonly tools: RequestTools | null;
  /** Whether the tokenizer adds its own: for messages it does not by default, since templates write them. */
  readonly addSpecialTokens: boolean;
  readonly withTexts: boolean;
}

export interface DetokenizeRequest {
  readonly model: string | null;
  readonly source: Extract<TextSource, { kind: 'ids' }>;
}

/** They have no effect without a template. */
const ofTemplates = [
  'add_generation_prompt',
  'continue_final_message',
  'tools',
  'documents',
  'chat_template_kwargs',
  'enable_thinking',
  'reasoning',
  'thinking',
  'reasoning_effort',
] as const;

/**
 * @param thinks whether conversations are thought about that do not say; null: as the template has it
 * @throws ApiError invalid_request, with every violation
 */
export function parseTokenize(body: unknown, thinks: boolean | null): TokenizeRequest {
  const fields = validateBody('tokenize', body);
  const { prompt } = fields;
  if ((prompt === undefined) === (fields.messages === undefined))
    throw invalidRequest([violationAt('prompt', 'or messages is required, and not both')]);
  const shared = { model: readModel(fields), withTexts: fields.return_token_strs === true };
  if (prompt === undefined) {
    const addSpecialTokens = fields.add_special_tokens === true;
    return { ...shared, source: readTemplate(fields, thinks), tools: readTools(fields), addSpecialTokens };
  }
  const lost = ofTemplates.filter((name) => fields[name] !== undefined);
  if (lost.length > 0)
    throw invalidRequest(lost.map((param) => violationAt(param, 'needs messages, not prompt')));
  const addSpecialTokens = fields.add_special_tokens !== false;
  const source: TextSource = { kind: 'text', text: prompt, addSpecialTokens };
  return { ...shared, source, tools: null, addSpecialTokens };
}

/** @throws ApiError invalid_request, with every violation */
export function parseDetokenize(body: unknown): DetokenizeRequest {
  const fields = validateBody('detokenize', body);
  return { model: readModel(fields), source: { kind: 'ids', ids: fields.tokens } };
}

/** @throws ApiError invalid_request, with every violation; `thinks` as for `parseTokenize` */
export function parseTemplate(body: unknown, thinks: boolean | null): TemplateRequest {
  const fields = validateBody('template', body);
  return { model: readModel(fields), source: readTemplate(fields, thinks), tools: readTools(fields) };
}

function readTemplate(fields: GenerationFields, unlessAsked: boolean | null): MessagesSource {
  const violations = violationsOfEnding(fields);
  if (violations.length > 0) throw invalidRequest(violations);
  return {
    kind: 'messages',
    messages: readMessages(fields.messages ?? []),
    template: null,
    documents: readDocuments(fields),
    templateKwargs: withThinking(readTemplateKwargs(fields), readThinks('chat', fields, unlessAsked)),
    ending: readEnding(fields),
    field: 'messages',
    plainText: null,
  };
}
