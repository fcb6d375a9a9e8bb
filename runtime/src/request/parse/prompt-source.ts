// What a request is to continue, as the client gave it: a conversation that the chat template writes, or texts and tokens
// as they are.

import type { Fields, GenerationKind } from '../body/field-table.js';
import { violationAt, type Violation } from '../body/violation.js';
import { readMessages, type Message, type RawMessage } from '../fields/messages.js';
import { readTexts, type TextSource } from '../fields/prompt.js';
import { readEnding, type PromptEnding } from '../fields/prompt-ending.js';
import { readTemplateKwargs, readThinks } from '../fields/thinking.js';
import type { GenerationFields } from '../validate/request-fields.js';
import type { FieldFamily } from './field-families.js';

export interface MessagesSource {
  readonly kind: 'messages';
  readonly messages: readonly Message[];
  /** Of the request itself; null: the checkpoint's. */
  readonly template: string | null;
  /** Null: none. */
  readonly documents: readonly Fields[] | null;
  /** Further variables of the chat template. */
  readonly templateKwargs: Fields;
  readonly ending: PromptEnding;
  /** The field that it came as. */
  readonly field: 'prompt' | 'messages';
  /** What a checkpoint without a template is given instead (a :predict prompt); null: nothing. */
  readonly plainText: string | null;
}

/** What is to be continued, as the client gave it. */
export type PromptSource = TextSource | MessagesSource;

/** They have no effect on the tokens of a whole prompt. */
const ofTemplates = ['system', 'chat_template_kwargs', 'reasoning_effort', 'thinking_token_budget'] as const;

/** Of what a prediction is to continue. */
export function violationsOfPredict(fields: GenerationFields): Violation[] {
  const { prompt, messages, system } = fields;
  if ((prompt === undefined) === (messages === undefined))
    return [violationAt('prompt', 'or messages is required, and not both')];
  if (messages !== undefined)
    return system === undefined ? [] : [violationAt('system', 'needs prompt, not messages')];
  if (typeof prompt === 'string') return [];
  const thinks = ['reasoning', 'thinking', 'enable_thinking'] as const;
  const lost = [
    ...ofTemplates.filter((name) => fields[name] !== undefined),
    ...(readThinks('predict', fields, null) === true
      ? thinks.filter((name) => fields[name] !== undefined)
      : []),
  ];
  return lost.map((name) => violationAt(name, 'needs prompt as a text, not as token ids'));
}

export function violationsOfTemplate(
  { chat_template: template }: GenerationFields,
  takes: boolean,
): Violation[] {
  const why =
    'is a program, and this server runs none of its clients: it was started without --trust-request-chat-template (server.trustRequestChatTemplate)';
  return template === undefined || takes ? [] : [violationAt('chat_template', why)];
}

export const readDocuments = ({ documents = [] }: { readonly documents?: readonly Fields[] | undefined }) =>
  documents.length === 0 ? null : documents;

/**
 * The template's variables.
 * @param asked by the request
 * @param thinks null: as the template has it
 */
export const withThinking = (asked: Fields, thinks: boolean | null): Fields =>
  thinks === null ? asked : { ...asked, enable_thinking: thinks };

/**
 * @param asked families of which there are fields
 * @param thinks null: as the template has it
 */
export function readPrompts(
  kind: GenerationKind,
  fields: GenerationFields,
  asked: ReadonlySet<FieldFamily>,
  thinks: boolean | null,
): PromptSource[] {
  const { prompt = [], messages = [] } = fields;
  if (kind === 'completions' || kind === 'generate')
    return readTexts(prompt, fields.add_special_tokens !== false);
  if (kind === 'predict' && typeof prompt !== 'string' && prompt.length > 0) return readTexts(prompt, false);
  const { system } = fields;
  const said = typeof prompt === 'string' ? prompt : null;
  const conversation: readonly RawMessage[] =
    said === null
      ? messages
      : [
          ...(system === undefined ? [] : [{ role: 'system', content: system } as const]),
          { role: 'user', content: said },
        ];
  return [
    {
      kind: 'messages',
      messages: readMessages(conversation),
      template: fields.chat_template ?? null,
      documents: readDocuments(fields),
      templateKwargs: withThinking(asked.has('thinking') ? readTemplateKwargs(fields) : {}, thinks),
      ending: asked.has('ending') ? readEnding(fields) : 'answer',
      field: said === null ? 'messages' : 'prompt',
      plainText: system === undefined ? said : null,
    },
  ];
}
