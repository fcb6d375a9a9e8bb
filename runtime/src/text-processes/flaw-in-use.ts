// Tries a tokenizer on texts that bring to light patterns whose matching takes exponential or quadratic time. Runs in a
// text process only: what is found may also end the process, which shows the same.

import type { ReferenceTokenizer } from '../tokens/reference-tokenizer.js';
import { releaseMemory } from './release-memory.js';
import { tryingTexts } from './trying-texts.js';

/** Of the processor, for a text of a few thousand characters. A good pattern takes some milliseconds. */
const maxMs = 1000;

const textsPerRelease = 16;

/** The rest of a sentence about the tokenizer; null: nothing was found. */
export async function flawInUse(tokenizer: ReferenceTokenizer, json: string): Promise<string | null> {
  let tried = 0;
  for (const text of tryingTexts(json)) {
    if (++tried % textsPerRelease === 0) await releaseMemory();
    const before = process.cpuUsage();
    await tokenizer.encode(text, null, { addSpecialTokens: true });
    const { user, system } = process.cpuUsage(before);
    const ms = (user + system) / 1000;
    if (ms > maxMs) {
      const shown = JSON.stringify(text.slice(0, 8));
      return `its patterns take ${ms.toFixed(0)} ms for ${String(text.length)} characters that begin with ${shown}`;
    }
  }
  return null;
}
