// What separates the tokens of one answer into text, reasoning and calls of tools, while they come. Pure; one instance per
// answer.

import type { ToolCallDelta } from '../../tools/tool.js';

export interface ReadAnswer {
  readonly content: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCallDelta[];
}

export interface AnswerReader {
  /** Whether the next token is one of the reasoning. */
  readonly isReasoning: boolean;
  /** Whether the answer may have no more calls, and so ends. */
  readonly isFull: boolean;
  /** Whether the answer asks for calls, the last of them whole as far as the model wrote it. */
  readonly asksForCalls: boolean;
  /** Of a token that is not pushed yet: whether it writes the answer's text. */
  writesText(id: number): boolean;
  /** The stop string that the token completed, or null. */
  push(id: number, mayStop: boolean): string | null;
  /** The text ends, for another reason than a stop string. */
  flush(): void;
  /** The last stretch of text ends, which may complete a stop string yet: that, or null. */
  close(): string | null;
  /** The answer ends. `cut`: by a limit or a stop string, not by the model. */
  end(cut: boolean): void;
  /** What came since the last time. */
  take(): ReadAnswer;
}
