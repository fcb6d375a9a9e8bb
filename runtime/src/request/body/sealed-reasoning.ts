// Reasoning as what OpenAI calls its encrypted content: clients that keep nothing else of it send it back. It is encoded
// only: they were told the reasoning itself, and any replica has to read it.

/** Ours, and which form: what other servers sealed is not. */
export const sealPrefix = 'llmservice-reasoning-1:';

export const sealReasoning = (text: string): string => sealPrefix + Buffer.from(text).toString('base64url');

/** @param sealed by `sealReasoning` */
export const openReasoning = (sealed: string): string =>
  Buffer.from(sealed.slice(sealPrefix.length), 'base64url').toString();
