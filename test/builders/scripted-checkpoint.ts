// A checkpoint whose answer is a given text, whatever the prompt says. Attention and feed-forward are zeros, so the last
// token alone decides on the next one: each token of the script has a dimension of its own, and `lm_head` leads from it to
// its successor. All other tokens share the first dimension, which leads to the end of the answer.

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { llamaConfig, llamaTensors } from './llama.js';
import { bf16Tensor } from './safetensors.js';
import { type Script, scriptedTemplate, scriptTokens, type ScriptToken } from './script.js';
import { storedFile, type StoredTensor, type StoredTensors } from './stored-tensors.js';

interface TokenizerFile {
  readonly added_tokens: readonly { readonly id: number; readonly content: string }[];
  readonly model: { readonly vocab: Readonly<Record<string, number>> };
}

export const scriptedContext = 131_072;
const one = 0x3f80;
/** 8: a logit of 8 √hidden, against zeros, is certain at any temperature that clients ask for. */
const certain = 0x4100;

/**
 * @param script of ASCII
 * @param base folder of a checkpoint with byte pairs and `<|im_end|>`: its tokenizer reads the prompts
 */
export function writeScriptedCheckpoint(folder: string, script: Script, base: string): void {
  const readJson = (file: string): unknown => JSON.parse(readFileSync(join(base, file), 'utf8'));
  const tokenizer = readJson('tokenizer.json') as TokenizerFile;
  const { vocab } = tokenizer.model;
  const end = tokenizer.added_tokens.find(({ content }) => content === '<|im_end|>')!.id;
  const firstId = Math.max(...Object.values(vocab), ...tokenizer.added_tokens.map(({ id }) => id)) + 1;
  const taken = new Set([
    ...Object.keys(vocab).map((token) => token.replaceAll('Ġ', ' ').replaceAll('Ċ', '\n')),
    ...tokenizer.added_tokens.map(({ content }) => content),
  ]);
  const tokens = scriptTokens(script, taken);
  const ids = tokens.map(({ content, opens }, index) => ({ content, opens, id: firstId + index }));
  const added = ids
    .filter(({ opens }) => opens)
    .map(({ content, id }) => ({
      ...{ id, content, special: true },
      ...{ single_word: false, lstrip: false, rstrip: false, normalized: false },
    }));
  // No merge makes them: only the model writes these. Added tokens would be markers, which no grammar takes for text.
  const written = ids
    .filter(({ opens }) => !opens)
    .map(({ content, id }) => [content.replaceAll(' ', 'Ġ').replaceAll('\n', 'Ċ'), id]);

  // The reference library numbers anew what the model does not name.
  const named = [...tokenizer.added_tokens, ...added].map(({ content, id }) => [content, id]);

  const size = sizeFor(firstId, tokens.length);
  const config = { ...llamaConfig(size), tie_word_embeddings: false, eos_token_id: end };
  const files: Readonly<Record<string, string | Uint8Array>> = {
    'config.json': JSON.stringify({ ...config, max_position_embeddings: scriptedContext }),
    'tokenizer.json': JSON.stringify({
      ...tokenizer,
      added_tokens: [...tokenizer.added_tokens, ...added],
      model: { ...tokenizer.model, vocab: { ...vocab, ...Object.fromEntries([...named, ...written]) } },
    }),
    'tokenizer_config.json': JSON.stringify({
      ...(readJson('tokenizer_config.json') as object),
      chat_template: scriptedTemplate(script),
    }),
    'model.safetensors': storedFile(tensorsOf(size, tokens, firstId, end)),
  };
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  copyFileSync(join(base, 'generation_config.json'), join(folder, 'generation_config.json'));
}

const sizeFor = (firstId: number, scripted: number) => ({
  ...{ layers: 1, heads: 1, kvHeads: 1, headDim: 16, ffn: 64 },
  hidden: roundUp(1 + scripted),
  vocab: roundUp(firstId + scripted),
});

const roundUp = (count: number): number => 64 * Math.ceil(count / 64);

function tensorsOf(
  size: ReturnType<typeof sizeFor>,
  tokens: readonly ScriptToken[],
  firstId: number,
  end: number,
): StoredTensors {
  const { hidden, vocab } = size;
  const specs = { ...llamaTensors(size), 'lm_head.weight': bf16Tensor(vocab, hidden) };
  const tensors = new Map(
    Object.entries(specs).map(([name, { dtype, shape }]): [string, StoredTensor] => {
      const bytes = 2 * shape.reduce((product, side) => product * side, 1);
      return [name, { dtype, shape, data: Buffer.alloc(bytes) }];
    }),
  );
  const isScripted = (id: number): boolean => id >= firstId && id < firstId + tokens.length;
  const dimensionOf = (id: number): number => (isScripted(id) ? id - firstId + 1 : 0);
  const set = (name: string, row: number, column: number, value: number): void =>
    void tensors.get(name)!.data.writeUInt16LE(value, 2 * (row * hidden + column));
  for (let id = 0; id < vocab; id++) set('model.embed_tokens.weight', id, dimensionOf(id), one);
  for (let column = 0; column < hidden; column++) set('model.norm.weight', 0, column, one);
  set('lm_head.weight', end, 0, certain);
  tokens.forEach(({ closes }, index) => {
    const id = firstId + index;
    set('lm_head.weight', closes ? end : id + 1, dimensionOf(id), certain);
  });
  return tensors;
}
