// The token of lists goes to one origin alone: that of the list that is the model. A draft model and adapters may lie on hosts of
// others.

import { parseListUri } from './list-uri.js';

export interface ListToken {
  readonly text: string;
  /** The only one that it is sent to. */
  readonly origin: string;
}

/** @param modelUri null comes back where it is no list */
export function bindListToken(text: string | null, modelUri: string): ListToken | null {
  const place = parseListUri(modelUri);
  return text === null || place === null ? null : { text, origin: new URL(place.list).origin };
}
