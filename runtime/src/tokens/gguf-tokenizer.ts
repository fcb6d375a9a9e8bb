// The tokenizer that a GGUF file carries in its metadata, as the text of a tokenizer.json: SentencePiece, Gemma 4's, whose pairs the
// file lists, or byte-level BPE with the pre-tokenizers of the supported models. The file names its pre-tokenizer, and does not describe it.
// Source of the names: llama.cpp, src/llama-vocab.cpp.

import type { GgufHeader } from '@llmservice/checkpoint';
import { sentencePieceParts } from './gguf-sentencepiece.js';
import { quote, tokenKinds, TokenizerKeys } from './gguf-tokenizer-keys.js';
import { preTokenizerPatterns } from './pre-tokenizer-patterns.js';

interface PreTokenizer {
  /** Of tokenizer.json's pre-tokenizer, one after the other. */
  readonly steps: readonly object[];
  readonly normalizer: { readonly type: 'NFC' } | null;
  /** Words that are tokens are taken whole. */
  readonly ignoreMerges: boolean;
  /** Where the file does not say. */
  readonly addBos: boolean;
}

/** Words by a pattern, then their bytes. */
function splitBy([pattern]: readonly [string]): readonly object[] {
  return [
    { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false },
    { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
  ];
}

const llama3: PreTokenizer = {
  steps: splitBy(preTokenizerPatterns.llama3),
  normalizer: null,
  ignoreMerges: true,
  addBos: true,
};
const qwen2: PreTokenizer = {
  steps: splitBy(preTokenizerPatterns.qwen2),
  normalizer: { type: 'NFC' },
  ignoreMerges: false,
  addBos: false,
};
const glm4: PreTokenizer = { ...llama3, ignoreMerges: false, addBos: false };
const gpt4o: PreTokenizer = {
  steps: splitBy(preTokenizerPatterns.o200k),
  normalizer: null,
  ignoreMerges: false,
  addBos: false,
};
const smollm: PreTokenizer = {
  steps: [
    { type: 'Digits', individual_digits: true },
    { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
  ],
  normalizer: null,
  ignoreMerges: false,
  addBos: false,
};

const preTokenizers: ReadonlyMap<unknown, PreTokenizer> = new Map([
  ['llama-bpe', llama3],
  ['llama3', llama3],
  ['llama-v3', llama3],
  ['qwen2', qwen2],
  ['deepseek-r1-qwen', qwen2],
  ['glm4', glm4],
  ['chatglm-bpe', glm4],
  ['qwen35', { ...qwen2, steps: splitBy(preTokenizerPatterns.qwen35) }],
  ['smollm', smollm],
  ['gpt-4o', gpt4o],
  ['llama4', gpt4o],
  ['tekken', { ...gpt4o, steps: splitBy(preTokenizerPatterns.tekken), ignoreMerges: true }],
]);

const { unknown, control, userDefined, unused } = tokenKinds;
/** Are taken whole where they stand in a text. */
const taken: readonly number[] = [unknown, control, userDefined];

/** @throws FailureError TokenizerInvalid, naming the key */
export function ggufTokenizerJson(header: GgufHeader): string {
  const keys = new TokenizerKeys(header);
  const isListed = keys.get('model') === 'gemma4';
  const pre = isListed || keys.get('model') === 'llama' ? null : preTokenizerOf(keys);
  const tokens = keys.texts('tokens');
  const kinds = keys.numbers('token_type', tokens.length);
  const used = tokens
    .map((content, id) => ({ content, id, kind: kinds?.[id] ?? 1 }))
    .filter(({ kind }) => kind !== unused);
  const vocab = new Map(used.map(({ content, id }) => [content, id]));
  if (vocab.size !== used.length)
    throw keys.invalid('tokens', `holds ${String(used.length - vocab.size)} tokens twice`);
  const added = used.filter(({ kind }) => taken.includes(kind));
  return JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added.map(({ content, id, kind }) => ({
      ...{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false },
      special: kind !== userDefined,
    })),
    post_processor: postProcessor(keys, tokens, pre?.addBos ?? true),
    ...(pre === null
      ? sentencePieceParts(keys, vocab, tokens, isListed ? mergesOf(keys) : null)
      : byteLevelParts(keys, vocab, pre)),
  });
}

function byteLevelParts(keys: TokenizerKeys, vocab: ReadonlyMap<string, number>, pre: PreTokenizer): object {
  return {
    normalizer: pre.normalizer,
    pre_tokenizer: { type: 'Sequence', pretokenizers: pre.steps },
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      ...{
        type: 'BPE',
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: null,
        end_of_word_suffix: null,
      },
      ...{ fuse_unk: false, byte_fallback: false, ignore_merges: pre.ignoreMerges },
      vocab: Object.fromEntries(vocab),
      merges: mergesOf(keys),
    },
  };
}

/** Texts by name, such as bos_token, of the tokens that keys name; none in a file without a vocabulary. */
export function ggufSpecialTokens(header: GgufHeader): Record<string, string> {
  const keys = new TokenizerKeys(header);
  if (keys.get('tokens') === undefined) return {};
  const tokens = keys.texts('tokens');
  const named = [
    ['bos_token', 'bos_token_id'],
    ['eos_token', 'eos_token_id'],
    ['unk_token', 'unknown_token_id'],
    ['sep_token', 'seperator_token_id'],
    ['pad_token', 'padding_token_id'],
  ] as const;
  return Object.fromEntries(
    named.flatMap(([name, key]) => {
      const id = keys.id(key, tokens.length);
      return id === null ? [] : [[name, tokens[id] ?? '']];
    }),
  );
}

/**
 * Ids that end a text: those that keys name, and control tokens that end one in every model that has them. A file without
 * a vocabulary has a tokenizer.json beside it, and a generation_config.json to name them.
 */
export function ggufEosIds(header: GgufHeader): number[] {
  const keys = new TokenizerKeys(header);
  if (keys.get('tokens') === undefined) return [];
  const tokens = keys.texts('tokens');
  const kinds = keys.numbers('token_type', tokens.length);
  const named = ['eos_token_id', 'eot_token_id', 'eom_token_id'].flatMap(
    (key) => keys.id(key, tokens.length) ?? [],
  );
  const known = tokens.flatMap((token, id) => (kinds?.[id] === control && endings.has(token) ? [id] : []));
  return [...new Set([...named, ...known])];
}

const endings = new Set([
  ...['<|endoftext|>', '<|im_end|>', '<|eot_id|>', '<|end_of_text|>', '<|eom_id|>'],
  ...['<|return|>', '<|call|>', '<end_of_turn>', '<turn|>'],
]);

function preTokenizerOf(keys: TokenizerKeys): PreTokenizer {
  const model = keys.get('model');
  if (model !== 'gpt2') {
    throw keys.invalid(
      'model',
      `is ${quote(model)}; read are gpt2 (byte-level BPE), llama (SentencePiece) and gemma4. Put a tokenizer.json beside the file`,
    );
  }
  const pre = preTokenizers.get(keys.get('pre'));
  if (pre !== undefined) return pre;
  throw keys.invalid(
    'pre',
    `is ${quote(keys.get('pre'))}; known are ${[...preTokenizers.keys()].join(', ')}. Put a tokenizer.json beside the file`,
  );
}

function mergesOf(keys: TokenizerKeys): [string, string][] {
  return keys.texts('merges').map((merge) => {
    const space = merge.indexOf(' ', 1);
    if (space === -1) throw keys.invalid('merges', `holds ${quote(merge)}, which is no pair`);
    return [merge.slice(0, space), merge.slice(space + 1)];
  });
}

function postProcessor(keys: TokenizerKeys, tokens: readonly string[], addBos: boolean): object | null {
  const bos = keys.flag('add_bos_token', addBos) ? keys.id('bos_token_id', tokens.length) : null;
  const eos = keys.flag('add_eos_token', false) ? keys.id('eos_token_id', tokens.length) : null;
  if (bos === null && eos === null) return null;
  const special = (id: number | null, type: number): object[] =>
    id === null ? [] : [{ SpecialToken: { id: tokens[id], type_id: type } }];
  const single = [...special(bos, 0), { Sequence: { id: 'A', type_id: 0 } }, ...special(eos, 0)];
  const pair = [...single, ...special(bos, 1), { Sequence: { id: 'B', type_id: 1 } }, ...special(eos, 1)];
  const ids = [bos, eos].filter((id) => id !== null);
  const entries = ids.map((id): [string, object] => {
    const token = tokens[id] ?? '';
    return [token, { id: token, ids: [id], tokens: [token] }];
  });
  const named: Record<string, object> = Object.fromEntries(entries);
  return { type: 'TemplateProcessing', single, pair, special_tokens: named };
}
