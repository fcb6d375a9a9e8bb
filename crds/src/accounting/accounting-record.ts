// One finished request as a line of the accounting log, written and read.

/** What replicas and routers know alike. */
export interface TokenRecord {
  /** When it ended, in ISO 8601, UTC. */
  readonly time: string;
  /** The answer's id; of a router, the header x-request-id. */
  readonly id: string;
  /** Id of its API key; null: none was asked for. */
  readonly key: string | null;
  readonly route: string;
  readonly model: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Of texts that were encoded or rendered and not generated from: no part of the counts above. */
  readonly textTokens: number;
  /**
   * How each of its generations ended: `stop`, `length`, `abort` (the client went away) or `error`; of a router, which does not read
   * answers, how the answer did: `answered`, `abort` or `error`; empty: it had none.
   */
  readonly finish: readonly string[];
}

/** Of a replica. */
export interface AccountingRecord extends TokenRecord {
  /** Of the prompt's tokens, those that the prefix cache had. */
  readonly cachedTokens: number;
  /** Of the completion's tokens, those of its reasoning. */
  readonly reasoningTokens: number;
}

/** Of a gateway's router: the replica that answered has a line of its own. */
export interface GatewayRecord extends TokenRecord {
  /** NAMESPACE/NAME, which lines of services do not have. */
  readonly gateway: string;
}

export function formatRecord(record: AccountingRecord | GatewayRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** Null: the line is no record, such as the half one that a crash leaves at the end of a file. */
export function parseRecord(line: string): TokenRecord | null {
  try {
    const value = JSON.parse(line) as Partial<TokenRecord> | null;
    return value !== null && isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** By the fields that readers of a log count with. */
function isRecord(value: Partial<TokenRecord>): value is TokenRecord {
  const { time, id, promptTokens, completionTokens, finish } = value;
  const isCounted = Number.isSafeInteger(promptTokens) && Number.isSafeInteger(completionTokens);
  return typeof time === 'string' && typeof id === 'string' && isCounted && Array.isArray(finish);
}
