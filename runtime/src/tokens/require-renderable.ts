// At load: a template that renders no conversation at all is the checkpoint's fault, and no client is to hear of it first.

import { FailureError } from '@llmservice/crds';
import { ChatTemplateRefusal, type ChatTemplateInput } from './chat-template.js';
import type { ChatRenderer } from './template-renderer.js';

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

/** @throws FailureError ChatTemplateInvalid; QueueTimeout, EngineFault: the template could not be tried */
export async function requireRenderable(template: ChatRenderer): Promise<void> {
  let failure: string | null = null;
  for (const probe of probes) {
    const why = await whyNot(template, probe);
    if (why === null) return;
    failure ??= why;
  }
  const message = `chat template: it renders not even one message of a user: ${String(failure)}`;
  throw new FailureError('ChatTemplateInvalid', message);
}

/** Null: the template renders it, refuses it of its own accord, or asks for a variable. */
async function whyNot(template: ChatRenderer, input: ChatTemplateInput): Promise<string | null> {
  try {
    await template.render(input);
    return null;
  } catch (error) {
    if (error instanceof ChatTemplateRefusal) return error.isRaised ? null : error.message;
    if (error instanceof FailureError && error.reason === 'ChatTemplateInvalid') return error.message;
    throw error;
  }
}
