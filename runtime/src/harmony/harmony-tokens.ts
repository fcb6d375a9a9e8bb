// The tokens that messages of OpenAI's Harmony format are written with.
// Source: https://cookbook.openai.com/articles/openai-harmony

import type { ChatRenderer } from '../tokens/template-renderer.js';
import { ChatTemplateRefusal } from '../tokens/chat-template.js';

/** By what follows each of them; `end`, `call` and `return` end a message, the last two the answer as well. */
export const harmonyTexts = {
  start: '<|start|>',
  channel: '<|channel|>',
  constrain: '<|constrain|>',
  message: '<|message|>',
  end: '<|end|>',
  call: '<|call|>',
  return: '<|return|>',
} as const;

export type HarmonyMark = keyof typeof harmonyTexts;

export type HarmonyTokens = Readonly<Record<HarmonyMark, number>>;

const marks = Object.keys(harmonyTexts) as readonly HarmonyMark[];

/** Null: the vocabulary lacks one of them. */
export function harmonyTokens(tokenizer: { tokenId(text: string): number | null }): HarmonyTokens | null {
  const ids = marks.map((mark) => [mark, tokenizer.tokenId(harmonyTexts[mark])] as const);
  return ids.every(([, id]) => id !== null) ? (Object.fromEntries(ids) as HarmonyTokens) : null;
}

/** Null: the token is text, like any other. */
export const markOf = (tokens: HarmonyTokens, id: number): HarmonyMark | null =>
  marks.find((mark) => tokens[mark] === id) ?? null;

/**
 * The tokens of a model whose chat template has it answer in channels; null: it answers otherwise.
 * @throws FailureError QueueTimeout, EngineFault: the template could not be tried
 */
export async function findHarmony(
  renderer: ChatRenderer,
  tokenizer: { tokenId(text: string): number | null },
): Promise<HarmonyTokens | null> {
  const tokens = harmonyTokens(tokenizer);
  if (tokens === null) return null;
  try {
    const prompt = await renderer.render({ messages: [{ role: 'user', content: 'x' }] });
    return prompt.trimEnd().endsWith(`${harmonyTexts.start}assistant`) ? tokens : null;
  } catch (error) {
    if (error instanceof ChatTemplateRefusal) return null;
    throw error;
  }
}
