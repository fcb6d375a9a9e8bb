// A tokenizer.json with a token for each byte after the two special ones, for checkpoints that need no better one.

/** Printable stand-ins for all bytes, in byte order, as byte-level tokenizers write them. */
function byteCharacters(): string[] {
  const printable = (byte: number): boolean =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printable(byte) ? byte : next++));
}

export const byteTokenizerSpecials = ['<|begin|>', '<|end|>'] as const;

export function byteTokenizer(): object {
  const vocabulary = [...byteTokenizerSpecials, ...byteCharacters()];
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: byteTokenizerSpecials.map((content, id) => ({
      ...{ id, content, special: true },
      ...{ single_word: false, lstrip: false, rstrip: false, normalized: false },
    })),
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: {
      ...{ type: 'BPE', dropout: null, unk_token: null, fuse_unk: false, byte_fallback: false },
      ...{ continuing_subword_prefix: null, end_of_word_suffix: null, ignore_merges: false },
      vocab: Object.fromEntries(vocabulary.map((token, id) => [token, id])),
      merges: [],
    },
  };
}
