// Renders chat templates: a short conversation on the spot, anything else in a process. A template is a program that came
// with the weights, and one that loops, allocates without end or has a conversation of megabytes to write must hold up
// neither other streams nor the health routes.

import { FailureError } from '@llmservice/crds';
import { ChatTemplateRefusal, type ChatTemplate, type ChatTemplateInput } from './chat-template.js';
import type { TextProcesses } from '../text-processes/text-processes.js';

export interface RenderOptions {
  readonly signal?: AbortSignal | undefined;
}

/** What renders a conversation. */
export interface ChatRenderer {
  /** Whether all that users say stands in every prompt; absent: nobody knows. */
  readonly showsUsers?: boolean;
  /** Whether tools are described in a message, since the template shows none; absent: no. */
  readonly describesTools?: boolean;
  /** Whether the template has a place for documents; absent: nobody knows. */
  readonly showsDocuments?: boolean;
  /**
   * @throws ChatTemplateRefusal with the template's own message, or because it took too long or too much memory
   * @throws FailureError QueueTimeout: others took too long; ChatTemplateInvalid: the template is at fault; the signal's
   *   reason
   */
  render(input: ChatTemplateInput, options?: RenderOptions): Promise<string>;
}

/** Whether a template has a place for documents. */
export const mentionsDocuments = (template: string): boolean => /\bdocuments\b/.test(template);

/** Texts of users that are looked for in a prompt. */
const marks = ['the first word', 'the second word'];

export class TemplateRenderer implements ChatRenderer {
  readonly showsUsers: boolean;
  readonly showsDocuments: boolean;

  /** @param processes with the same template */
  constructor(
    private readonly template: ChatTemplate,
    private readonly processes: Pick<TextProcesses, 'render'>,
  ) {
    this.showsUsers = showsUsers(template);
    this.showsDocuments = mentionsDocuments(template.text);
  }

  async render(input: ChatTemplateInput, { signal }: RenderOptions = {}): Promise<string> {
    const brief = this.template.renderBriefly(input);
    if (brief !== null) return brief;
    const reply = await this.processes.render(input, signal);
    if (reply.kind === 'text') return reply.text;
    if (reply.kind === 'refused') throw new ChatTemplateRefusal(reply.message);
    throw new FailureError('ChatTemplateInvalid', reply.message);
  }
}

function showsUsers(template: ChatTemplate): boolean {
  const [first = '', second = ''] = marks;
  const messages = [
    { role: 'user', content: first },
    { role: 'assistant', content: 'an answer' },
    { role: 'user', content: second },
  ];
  try {
    const prompt = template.renderBriefly({ messages });
    return prompt !== null && marks.every((mark) => prompt.includes(mark));
  } catch {
    return false;
  }
}
