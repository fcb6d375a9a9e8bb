// What an answer says itself of the tokens that it took: `usage` of OpenAI's protocol or Anthropic's. It is read where an engine
// reports nothing to a router. The answer waits for nothing: it is looked through as it passes.

import { nothingUsed, type UsageReport } from '@llmservice/crds/keys';

/** In which a `usage` that came in two parts is whole. */
const keptBytes = 2_048;
const member = Buffer.from('"usage"');
/** Within a text of the answer its quotes would have a backslash before them. */
const usageForm = /(?<!\\)"usage"\s*:\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})/g;

export class AnswerUsage {
  private kept = Buffer.alloc(0);
  private found = '{}';

  add(part: Buffer): void {
    const joined = Buffer.concat([this.kept, part]);
    if (joined.includes(member)) {
      // The whole answer, since clients may ask for what comes behind it: tokens of the prompt, and their probabilities.
      this.found = [...joined.toString('utf8').matchAll(usageForm)].at(-1)?.[1] ?? this.found;
    }
    // Copied: a slice would hold all of what it is of.
    this.kept = Buffer.from(joined.subarray(-keptBytes));
  }

  /** The last one; null: there is none, or it is no count. */
  get last(): UsageReport | null {
    try {
      const read = JSON.parse(this.found) as Record<string, unknown>;
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
