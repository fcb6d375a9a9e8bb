// Conversations as the checkpoint's chat template writes them.

import { harmonyMessages, partsAroundCuts, withMarkersCut } from '../../harmony/harmony-messages.js';
import { harmonyTools } from '../../harmony/harmony-tools.js';
import { requireHarmonyVariables } from './harmony-variables.js';
import { ChatTemplateRefusal } from '../../tokens/chat-template.js';
import { mentionsDocuments } from '../../tokens/template-renderer.js';
import { ApiError } from '../body/api-error.js';
import { withStandIns, type StoodIn } from '../fields/exact-numbers.js';
import type { Message } from '../fields/messages.js';
import { cutAtMark, withMark } from '../fields/prompt-ending.js';
import type { MessagesSource } from '../parse/prompt-source.js';
import { requireDialect, type ModelTexts } from './model-texts.js';
import { withShortIds } from './short-call-ids.js';

/**
 * The prompt that the chat template writes.
 * @throws ApiError chat_template_refused, tools_not_supported, invalid_request; the signal's reason
 */
export async function renderMessages(
  source: MessagesSource,
  model: ModelTexts,
  tools?: readonly unknown[],
  signal?: AbortSignal,
): Promise<string> {
  return (await renderParts(source, model, tools, signal)).join('');
}

/** The same, in parts that are to be encoded each by itself. @throws ApiError as `renderMessages`; the signal's reason */
export async function renderParts(
  { messages, template, documents, templateKwargs, ending }: MessagesSource,
  model: ModelTexts,
  tools?: readonly unknown[],
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const { chatTemplate, harmony } = model;
  // A template that knows none would leave them out.
  if (tools !== undefined && harmony === null) requireDialect(model);
  if (harmony !== null) requireHarmonyVariables(templateKwargs);
  if (chatTemplate === null) {
    throw ApiError.of(
      'chat_template_refused',
      'the checkpoint has no chat template: use /v1/completions, or add chat_template to tokenizer_config.json',
      { param: 'messages' },
    );
  }
  const known = model.toolDialect?.shortIds === true ? withShortIds(messages) : messages;
  const showsDocuments = template === null ? chatTemplate.showsDocuments : mentionsDocuments(template);
  if (documents !== null && showsDocuments === false) {
    const message = 'the chat template shows no documents: put them into a message';
    throw ApiError.of('chat_template_refused', message, { param: 'documents' });
  }
  const given = ending === 'continue' ? withMark(known) : known;
  const inForm = harmony === null ? given : harmonyMessages(given);
  const stoodIn = mayNeedStandIns(inForm, tools) ? withStandIns(inForm, tools) : asGiven(inForm);
  const shown = harmony === null ? stoodIn : withMarkersCut(stoodIn);
  try {
    const rendered = await chatTemplate.render(
      {
        messages: shown.messages,
        tools: harmony === null ? shown.tools : shown.tools && harmonyTools(shown.tools),
        template,
        documents,
        kwargs: harmony === null ? templateKwargs : withMarkersCut(templateKwargs),
        addGenerationPrompt: ending === 'answer',
      },
      { signal },
    );
    const whole = stoodIn.restore(rendered);
    const text = ending === 'continue' ? cutAtMark(whole) : whole;
    if (text === null)
      throw new ChatTemplateRefusal('it leaves the final message out, so that nothing can continue it');
    return harmony === null ? [text] : partsAroundCuts(text);
  } catch (error) {
    if (!(error instanceof ChatTemplateRefusal)) throw error;
    const why = stoodIn.restore(error.message);
    throw ApiError.of('chat_template_refused', `the chat template refuses the messages: ${why}`, {
      param: template === null ? 'messages' : 'chat_template',
    });
  }
}

/** Whether a conversation or its tools may have numbers and names that have to stand in for others. */
const mayNeedStandIns = (messages: readonly Message[], tools?: readonly unknown[]): boolean =>
  tools !== undefined || messages.some((message) => message.tool_calls !== undefined);

const asGiven = (messages: readonly Message[]): StoodIn => ({
  messages,
  tools: undefined,
  restore: (text) => text,
});
