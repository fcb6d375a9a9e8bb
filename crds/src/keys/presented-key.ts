// The API key that a client sends: as OpenAI's clients do, or as Anthropic's do.

/** As Node has the headers of a request. */
export interface KeyHeaders {
  readonly authorization?: string | undefined;
  readonly 'x-api-key'?: string | string[] | undefined;
}

/** Null: it sends none. */
export function presentedKey({ authorization = '', 'x-api-key': own }: KeyHeaders): string | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  return bearer ?? (typeof own === 'string' ? own : null);
}
