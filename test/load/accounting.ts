// What clients got of tokens, compared with the accounting log and the metrics of the server.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One request as its client saw it. */
export interface Seen {
  readonly id: string;
  /** Ids of tokens that came. */
  readonly tokens: number;
  /** Null: the answer did not come to its end. */
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
}

interface Record {
  readonly id: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export function readAccounting(folder: string): Record[] {
  return readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record),
  );
}

/**
 * What does not agree; empty when all does. An answer that came whole has exactly the tokens that it says, one that was
 * cut off at least those that came, and all of them together those that the server counted.
 */
export function disagreements(
  seen: readonly Seen[],
  records: readonly Record[],
  generatedTokens: number,
): string[] {
  const byId = new Map(records.map((record) => [record.id, record]));
  const wrong = seen.flatMap(({ id, tokens, usage }) => {
    const record = byId.get(id);
    if (record === undefined) return [`${id}: ${String(tokens)} tokens came, and it is not in the log`];
    const { promptTokens, completionTokens } = record;
    const difference = `${id}: ${String(tokens)} tokens came, the log has ${String(completionTokens)}`;
    if (usage === null) return completionTokens < tokens ? [difference] : [];
    const same =
      completionTokens === tokens &&
      completionTokens === usage.completion_tokens &&
      promptTokens === usage.prompt_tokens;
    return same ? [] : [`${difference}, its usage ${JSON.stringify(usage)}`];
  });
  const sum = records.reduce((total, { completionTokens }) => total + completionTokens, 0);
  const doubled = records.length - byId.size;
  return [
    ...wrong,
    ...(doubled === 0 ? [] : [`${String(doubled)} ids are in the log more than once`]),
    ...(sum === generatedTokens
      ? []
      : [`the log has ${String(sum)} tokens, the metric ${String(generatedTokens)}`]),
  ];
}
