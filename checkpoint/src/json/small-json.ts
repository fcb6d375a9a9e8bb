// The small JSON files beside a checkpoint's weights. Whoever made them is not trusted: JSON.parse makes objects of many
// times the text's size, and what goes through nested ones calls itself, so that size, depth and number of values are
// held against limits first.

import { FailureError, parseJson } from '@llmservice/crds';

/** Several times what configs have, whose longest lists name each module of a model. */
const maxLevels = 64;
const maxValues = 200_000;

const mib = 2 ** 20;
/** Above all released ones. */
const sizes: ReadonlyMap<string, number> = new Map([
  ['config.json', 4 * mib],
  ['generation_config.json', mib],
  ['modules.json', mib],
  ['1_Pooling.config.json', mib],
  ['config_sentence_transformers.json', mib],
  ['sentence_bert_config.json', mib],
  ['tokenizer.json', 128 * mib],
]);
/** Of the other files of tokenizer and template. */
const maxOtherBytes = 32 * mib;

/** @throws FailureError CheckpointCorrupt where a small file is larger than any such file is */
export function checkSmallFile(name: string, bytes: number): void {
  const most = sizes.get(name) ?? maxOtherBytes;
  if (bytes <= most) return;
  throw new FailureError(
    'CheckpointCorrupt',
    `${name} has ${String(bytes)} bytes, far more than such a file takes; at most ${String(most)} are read`,
    { file: name },
  );
}

/** @throws FailureError CheckpointCorrupt */
export function parseSmallJson(name: string, text: string): unknown {
  const excess = excessOf(text);
  if (excess !== null)
    throw new FailureError('CheckpointCorrupt', `${name} is not read: it ${excess}`, { file: name });
  try {
    return parseJson(name, text);
  } catch (error) {
    throw new FailureError('CheckpointCorrupt', (error as Error).message, { file: name });
  }
}

/** What is too much of it; null: nothing, or it is no JSON. */
function excessOf(text: string): string | null {
  let levels = 0;
  let values = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === ',') values += 1;
    else if (character === '[' || character === '{') {
      levels += 1;
      values += 1;
      if (levels > maxLevels) return `is nested deeper than ${String(maxLevels)} levels`;
    } else if (character === ']' || character === '}') levels -= 1;
    if (values > maxValues) return `has more than ${String(maxValues)} values`;
  }
  return null;
}
