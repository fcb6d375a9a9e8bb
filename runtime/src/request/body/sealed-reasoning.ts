// Reasoning as clients keep it that show none: OpenAI's encrypted content, Anthropic's signature. It is encoded only: who
// asked may know it, and any replica has to read it.

/** Ours, and which version: what other servers sealed is not. */
export const sealPrefix = 'llmservice-reasoning-1:';

export const sealReasoning = (text: string): string => sealPrefix + Buffer.from(text).toString('base64url');

/** Null: it was sealed elsewhere, or not at all. */
export const openReasoning = (sealed: string): string | null =>
  sealed.startsWith(sealPrefix) ? Buffer.from(sealed.slice(sealPrefix.length), 'base64url').toString() : null;
