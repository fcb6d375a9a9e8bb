// Gathers what one generation says, for those who keep texts.

import type { TextDelta } from '../request/text/text-stream.js';
import type { ToolCallDelta } from '../tools/tool.js';
import { wholeCalls } from '../tools/whole-calls.js';
import type { AnswerText } from './ended-request.js';

export class AnswerKeeper {
  #content = '';
  #reasoning = '';
  readonly #calls: ToolCallDelta[] = [];

  add({ content, reasoning, toolCalls }: TextDelta): void {
    this.#content += content;
    this.#reasoning += reasoning;
    this.#calls.push(...toolCalls);
  }

  get text(): AnswerText {
    return { content: this.#content, reasoning: this.#reasoning, toolCalls: wholeCalls(this.#calls) };
  }
}
