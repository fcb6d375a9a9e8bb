// At load: a template that renders no conversation at all is the checkpoint's fault, and no client is to hear of it first.

import { FailureError } from '@llmservice/crds';
import type { TextProcesses } from '../text-processes/text-processes.js';
import { ChatTemplateRefusal, type ChatTemplate, type ChatTemplateInput } from './chat-template.js';

const user = { role: 'user', content: 'a' };
const tool = { name: 'f', description: 'a', parameters: { type: 'object', properties: {} } };
/** Templates differ in what they expect, those of rerankers in roles of their own: one of these is enough. */
const probes: readonly ChatTemplateInput[] = [
  { messages: [user] },
  { messages: [{ role: 'system', content: 'b' }, user] },
  { messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }] },
  { messages: [user], tools: [{ type: 'function', function: tool }] },
  {
    messages: [
      { role: 'query', content: 'a' },
      { role: 'document', content: 'b' },
    ],
  },
];

/**
 * @param processes with the same template: one that does not end holds up nothing else
 * @throws FailureError ChatTemplateInvalid
 */
export async function requireRenderable(
  template: ChatTemplate,
  processes: Pick<TextProcesses, 'render'>,
): Promise<void> {
  let failure: string | null = null;
  for (const probe of probes) {
    const why = await whyNot(template, processes, probe);
    if (why === null) return;
    failure ??= why;
  }
  const message = `chat template: it renders not even one message of a user: ${String(failure)}`;
  throw new FailureError('ChatTemplateInvalid', message);
}

/** Null: the template renders it, refuses it of its own accord, or asks for a variable. */
async function whyNot(
  template: ChatTemplate,
  processes: Pick<TextProcesses, 'render'>,
  input: ChatTemplateInput,
): Promise<string | null> {
  try {
    if (template.renderBriefly(input) !== null) return null;
  } catch (error) {
    const isRaised = error instanceof ChatTemplateRefusal && error.isRaised;
    return isRaised ? null : (error as Error).message;
  }
  const reply = await processes.render(input);
  return reply.kind === 'text' ? null : reply.message;
}
