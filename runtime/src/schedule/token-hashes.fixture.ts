// The language model of the stand-in engine: the next token is a hash of all tokens before it.

// Jest's sandbox makes every look-up of a global slow.
const { imul } = Math;

export const emptyHash = 17;
export const hashWith = (hash: number, token: number): number => (imul(hash, 31) + token + 7) | 0;
export const tokenOf = (hash: number): number => (hash >>> 0) % 1000;

/** What a request must give: its tokens up to the first stop token or its maximum. */
export function expectedTokens(
  prompt: ArrayLike<number>,
  maxTokens: number,
  stops: Int32Array | readonly number[],
): number[] {
  let hash = emptyHash;
  for (let i = 0; i < prompt.length; i++) hash = hashWith(hash, prompt[i] ?? NaN);
  const tokens: number[] = [];
  for (let i = 0; i < maxTokens; i++) {
    const token = tokenOf(hash);
    tokens.push(token);
    if (stops.includes(token)) break;
    hash = hashWith(hash, token);
  }
  return tokens;
}
