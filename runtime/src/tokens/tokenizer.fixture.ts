// A small byte-level BPE tokenizer.json for tests: all 256 bytes, a few merges, two special tokens, one BOS.

/** Characters that stand for bytes 0..255 in byte-level vocabularies (GPT-2's alphabet). */
function byteAlphabet(): string[] {
  const printable = (b: number): boolean => (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
  let next = 256;
  return Array.from({ length: 256 }, (_, b) => String.fromCharCode(printable(b) ? b : next++));
}

const merges = ['h e', 'l l', 'he ll', 'hell o', 'Ġ w', 'o r', 'Ġw or', 'l d', 'Ġwor ld'];

/** Pre-tokenizer pattern of Qwen 2 and later. */
const pattern =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/**
 * Text of the file. `<|bos|>` is put before every text that is encoded with special tokens.
 * @param markers added tokens that are not special, from id 267
 * @param controls added tokens that are special, behind them
 */
export function tokenizerJson(markers: readonly string[] = [], controls: readonly string[] = []): string {
  const tokens = [...byteAlphabet(), ...merges.map((merge) => merge.replace(' ', ''))];
  const vocab = Object.fromEntries(tokens.map((token, id) => [token, id]));
  const ends = ['<|bos|>', '<|end|>'];
  const added = [...ends, ...markers, ...controls].map((content, i) => ({
    id: tokens.length + i,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: !markers.includes(content),
  }));
  const bos = tokens.length;
  return JSON.stringify({
    version: '1.0',
    truncation: { direction: 'Right', max_length: 4, strategy: 'LongestFirst', stride: 0 },
    padding: null,
    added_tokens: added,
    normalizer: { type: 'NFC' },
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
      ],
    },
    post_processor: {
      type: 'TemplateProcessing',
      single: [{ SpecialToken: { id: '<|bos|>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
      pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
      special_tokens: { '<|bos|>': { id: '<|bos|>', ids: [bos], tokens: ['<|bos|>'] } },
    },
    decoder: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: '',
      end_of_word_suffix: '',
      fuse_unk: false,
      byte_fallback: false,
      vocab,
      merges,
    },
  });
}

/** As Gemma's: spaces become ▁, characters without a token of their own become their bytes, `<bos>` comes before every text. */
export function byteFallbackTokenizerJson(): string {
  const pairs = ['h e', 'l l', 'he ll', 'hell o', '▁ ▁'];
  const bytes = Array.from({ length: 256 }, (_, b) => `<0x${b.toString(16).toUpperCase().padStart(2, '0')}>`);
  const tokens = [
    '<bos>',
    ...bytes,
    '▁',
    ...Array.from('abdefhilnostwx'),
    ...pairs.map((pair) => pair.replace(' ', '')),
  ];
  const [bos] = tokens as [string];
  const bosAsSpecial = { SpecialToken: { id: bos, type_id: 0 } };
  return JSON.stringify({
    version: '1.0',
    added_tokens: [
      {
        id: 0,
        content: bos,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
        special: true,
      },
    ],
    normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
    pre_tokenizer: {
      ...{ type: 'Split', pattern: { String: ' ' }, behavior: 'MergedWithPrevious', invert: false },
    },
    post_processor: {
      type: 'TemplateProcessing',
      single: [bosAsSpecial, { Sequence: { id: 'A', type_id: 0 } }],
      pair: [bosAsSpecial, { Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
      special_tokens: { [bos]: { id: bos, ids: [0], tokens: [bos] } },
    },
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: '▁' }, content: ' ' },
        { type: 'ByteFallback' },
        { type: 'Fuse' },
      ],
    },
    model: {
      ...{ type: 'BPE', dropout: null, unk_token: null, fuse_unk: true, byte_fallback: true },
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: pairs,
    },
  });
}
