// The bytes that each token id stands for, derived from the kind of decoder that tokenizer.json names.
// Text is always the concatenation of token bytes read as UTF-8, which makes decoding incremental and linear.

/** How token strings spell bytes. */
export type TokenSpelling = 'byteLevel' | 'byteFallback';

/** The decoder part of tokenizer.json, as far as it matters here. */
export interface DecoderConfig {
  readonly type?: string;
  readonly decoders?: readonly DecoderConfig[] | undefined;
  /** Of a Strip: so many characters at most are taken away from the start. */
  readonly start?: unknown;
}

/** Spelling by decoder: ByteLevel (GPT-2, Llama 3, Qwen), ByteFallback or Metaspace (SentencePiece); null: none of them. */
export function spellingOf(decoder: DecoderConfig | null | undefined): TokenSpelling | null {
  if (decoder === null || decoder === undefined) return null;
  if (decoder.type === 'ByteLevel') return 'byteLevel';
  // Of vocabularies that spell no bytes, as XLM-RoBERTa's, texts are spelled alike.
  if (decoder.type === 'ByteFallback' || decoder.type === 'Metaspace') return 'byteFallback';
  for (const part of decoder.decoders ?? []) {
    const spelling = spellingOf(part);
    if (spelling !== null) return spelling;
  }
  return null;
}

/** Whether a text loses a space that it begins with, as where the tokenizer wrote one before the first word (Llama 2). */
export function dropsFirstSpace(decoder: DecoderConfig | null | undefined): boolean {
  if (decoder === null || decoder === undefined) return false;
  if (decoder.type === 'Strip') return decoder.start !== 0;
  return decoder.type === 'Metaspace' || (decoder.decoders ?? []).some(dropsFirstSpace);
}

const encoder = new TextEncoder();

/** Bytes of one token string. A token with a character outside the byte alphabet (an added token) is its own UTF-8. */
export function bytesOfToken(token: string, spelling: TokenSpelling): Uint8Array {
  return spelling === 'byteLevel' ? byteLevelBytes(token) : byteFallbackBytes(token);
}

/** Spellings of nothing but space and line breaks. */
const blank: Readonly<Record<TokenSpelling, RegExp>> = {
  byteLevel: /^[ĠĊčĉ]+$/,
  byteFallback: /^(?:[\u2581 \n\r\t]|<0x(?:20|0A|0D|09)>)+$/,
};

/** Ids, ascending, of the tokens that are nothing but space and line breaks. */
export function blankIds(vocabulary: Readonly<Record<string, number>>, spelling: TokenSpelling): Int32Array {
  const ids = Object.entries(vocabulary).flatMap(([token, id]) => (blank[spelling].test(token) ? [id] : []));
  return Int32Array.from(ids).sort();
}

function byteLevelBytes(token: string): Uint8Array {
  const bytes = new Uint8Array(token.length);
  for (let i = 0; i < token.length; i++) {
    const byte = byteOfCharacter.get(token.charCodeAt(i));
    if (byte === undefined) return encoder.encode(token);
    bytes[i] = byte;
  }
  return bytes;
}

function byteFallbackBytes(token: string): Uint8Array {
  const hex = /^<0x([0-9A-Fa-f]{2})>$/.exec(token)?.[1];
  if (hex !== undefined) return Uint8Array.of(Number.parseInt(hex, 16));
  return encoder.encode(token.replaceAll('\u2581', ' '));
}

/**
 * The byte alphabet of GPT-2: printable Latin-1 bytes stand for themselves, the other 68 for U+0100 onwards,
 * in ascending order. UTF-16 code unit -> byte.
 */
const byteOfCharacter: ReadonlyMap<number, number> = (() => {
  const printable = (byte: number): boolean =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
  const map = new Map<number, number>();
  let next = 0x100;
  for (let byte = 0; byte < 256; byte++) map.set(printable(byte) ? byte : next++, byte);
  return map;
})();
