// The end of an answer, in which engines that report nothing to a router say how many tokens it took: `usage` of OpenAI's
// protocol. A copy of the last bytes is kept; the answer itself waits for nothing.

import { nothingUsed, type UsageReport } from '@llmservice/crds/keys';

/** Behind `usage` there are a few short members, and in a stream one event. */
const keptBytes = 2_048;
/** Within a text of the answer its quotes would have a backslash before them. */
const usageForm = /(?<!\\)"usage"\s*:\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})/g;

export class AnswerTail {
  private kept = Buffer.alloc(0);

  add(part: Buffer): void {
    const joined = part.byteLength >= keptBytes ? part : Buffer.concat([this.kept, part]);
    // Copied: a slice would hold all of what it is of.
    this.kept = Buffer.from(joined.subarray(-keptBytes));
  }

  /** The last one; null: there is none, or it is no count. */
  get usage(): UsageReport | null {
    const last = [...this.kept.toString('utf8').matchAll(usageForm)].at(-1)?.[1];
    try {
      const read = JSON.parse(last ?? '{}') as Record<string, unknown>;
      const promptTokens = read['prompt_tokens'] ?? read['input_tokens'];
      const completionTokens = read['completion_tokens'] ?? read['output_tokens'] ?? 0;
      if (!isCount(promptTokens) || !isCount(completionTokens)) return null;
      return { ...nothingUsed, promptTokens, completionTokens };
    } catch {
      return null;
    }
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
