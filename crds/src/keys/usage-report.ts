// What a request took, as a replica reports it to the router of a gateway that asks (`headers.usage`): in a header of its
// answer what it took until that began, in a trailer what it took in all. A dictionary as RFC 8941 has them.

export interface UsageReport {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Of texts that are not generated from. */
  readonly textTokens: number;
}

export const nothingUsed: UsageReport = { promptTokens: 0, completionTokens: 0, textTokens: 0 };

export function usageText({ promptTokens, completionTokens, textTokens }: UsageReport): string {
  return `prompt=${String(promptTokens)}, completion=${String(completionTokens)}, text=${String(textTokens)}`;
}

/** Null: it is none. */
export function readUsage(text: string | readonly string[] | undefined): UsageReport | null {
  const found = typeof text === 'string' ? form.exec(text)?.slice(1).map(Number) : undefined;
  if (found === undefined) return null;
  const [promptTokens = 0, completionTokens = 0, textTokens = 0] = found;
  return { promptTokens, completionTokens, textTokens };
}

const form = /^prompt=(\d{1,15}), completion=(\d{1,15}), text=(\d{1,15})$/;
