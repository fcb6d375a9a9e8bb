// One finished request as a line of the accounting log, written and read.

export interface AccountingRecord {
  /** When it ended, in ISO 8601, UTC. */
  readonly time: string;
  /** The answer's id. */
  readonly id: string;
  /** Id of its API key; null: none was asked for. */
  readonly key: string | null;
  readonly route: string;
  readonly model: string;
  readonly promptTokens: number;
  /** Of the prompt's tokens, those that the prefix cache had. */
  readonly cachedTokens: number;
  readonly completionTokens: number;
  /** Of the completion's tokens, those of its reasoning. */
  readonly reasoningTokens: number;
  /** Of texts that were encoded or rendered and not generated from: no part of the counts above. */
  readonly textTokens: number;
  /** How each of its generations ended: `stop`, `length`, `abort` (the client went away) or `error`; empty: it had none. */
  readonly finish: readonly string[];
}

export function formatRecord(record: AccountingRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** Null: the line is no record, such as the half one that a crash leaves at the end of a file. */
export function parseRecord(line: string): AccountingRecord | null {
  try {
    const value = JSON.parse(line) as Partial<AccountingRecord> | null;
    return value !== null && isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** By the fields that readers of a log count with. */
function isRecord(value: Partial<AccountingRecord>): value is AccountingRecord {
  const { time, id, promptTokens, completionTokens, finish } = value;
  const isCounted = Number.isSafeInteger(promptTokens) && Number.isSafeInteger(completionTokens);
  return typeof time === 'string' && typeof id === 'string' && isCounted && Array.isArray(finish);
}
