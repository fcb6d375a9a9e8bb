// The checkpoint's own tokenizer (tokenizer.json), read by the reference implementation's Node binding.
// Short texts are encoded on the binding's thread pool, where that takes linear time; all others in processes that may die
// of it. Decoding is a table look-up per token.

import { FailureError, parseJsonObject } from '@llmservice/crds';
import type { Tokenizer as ReferenceTokenizer } from 'tokenizers';
import { Detokenizer } from './detokenizer.js';
import { fatalFlaw } from './fatal-flaw.js';
import { LoopTurns, type Steps } from '../loop-turns.js';
import { isKnownTokenizer } from './known-tokenizer.js';
import type { TextProcesses } from '../text-processes/text-processes.js';
import { referenceTokenizer } from './reference-tokenizer.js';
import { TokenBound } from './token-bound.js';
import {
  blankIds,
  bytesOfToken,
  dropsFirstSpace,
  spellingOf,
  type DecoderConfig,
  type TokenSpelling,
} from './token-bytes.js';

interface TokenizerFile {
  readonly decoder?: DecoderConfig | null;
  readonly added_tokens?: readonly AddedToken[];
  readonly model?: { readonly vocab?: Readonly<Record<string, number>> };
}

interface AddedToken {
  readonly id: number;
  readonly special: boolean;
}

/** Shorter texts have at most some 10,000 tokens in practice, and take milliseconds whatever is in them. */
export const longTextChars = 32_768;

/** That are decoded at once: it takes less than some milliseconds. */
const stepIds = 4096;

export interface EncodeOptions {
  /**
   * Whether the post-processor adds its BOS and the like: true for raw prompts, false for rendered chat templates, which
   * write their own.
   */
  readonly addSpecialTokens: boolean;
  /** Ends the encoding. */
  readonly signal?: AbortSignal | undefined;
}

/** Text to token ids and back. Immutable; safe to share between requests. */
export class Tokenizer {
  /** Ids, ascending, of the tokens that are nothing but space and line breaks. */
  readonly blankIds: Int32Array;
  readonly #reference: ReferenceTokenizer;
  readonly #processes: TextProcesses | null;
  readonly #isKnown: boolean;
  readonly #bound: TokenBound | null;
  readonly #spelling: TokenSpelling;
  readonly #dropsFirstSpace: boolean;
  readonly #specialIds: ReadonlySet<number>;
  readonly #addedIds: ReadonlySet<number>;
  readonly #turns = new LoopTurns();
  readonly #bytes = new Map<number, Uint8Array>();

  private constructor(
    reference: ReferenceTokenizer,
    file: TokenizerFile,
    spelling: TokenSpelling,
    processes: TextProcesses | null,
  ) {
    const added = file.added_tokens ?? [];
    this.#reference = reference;
    this.#processes = processes;
    this.#isKnown = isKnownTokenizer(file);
    this.#bound = TokenBound.of(file, spelling);
    this.#spelling = spelling;
    this.#dropsFirstSpace = dropsFirstSpace(file.decoder);
    this.blankIds = blankIds(file.model?.vocab ?? {}, spelling);
    this.#specialIds = new Set(added.filter(({ special }) => special).map(({ id }) => id));
    this.#addedIds = new Set(added.map(({ id }) => id));
  }

  /**
   * From the text of tokenizer.json; `name` is what errors call the file.
   * @param processes with the same tokenizer; null: all is encoded here, for texts that nobody else wrote
   * @throws FailureError TokenizerInvalid when it is not one that can be used
   */
  static fromJson(text: string, name: string, processes: TextProcesses | null = null): Tokenizer {
    const unusable = (why: string): FailureError =>
      new FailureError('TokenizerInvalid', `${name} cannot be used: ${why}`);
    let parsed: TokenizerFile;
    let reference: ReferenceTokenizer;
    try {
      // Of what is no object the reference would quote the value.
      parsed = parseJsonObject('it', text);
    } catch (error) {
      throw unusable((error as Error).message);
    }
    const flaw = fatalFlaw(parsed);
    if (flaw !== null) throw unusable(flaw);
    try {
      reference = referenceTokenizer(text);
    } catch (error) {
      throw unusable((error as Error).message);
    }
    const spelling = spellingOf(parsed.decoder);
    if (spelling === null) {
      throw unusable(
        `its decoder is ${parsed.decoder?.type ?? 'absent'}, not ByteLevel, ByteFallback or Metaspace`,
      );
    }
    return new Tokenizer(reference, parsed, spelling, processes);
  }

  /** Ids that the tokenizer knows, added tokens included. The model's own vocabulary may be larger. */
  get vocabSize(): number {
    return this.#reference.getVocabSize(true);
  }

  /**
   * Token ids of a text.
   * @throws TextRefusal: it takes too much time or memory
   * @throws FailureError QueueTimeout; the signal's reason
   */
  async encode(text: string, { addSpecialTokens, signal }: EncodeOptions): Promise<Int32Array> {
    signal?.throwIfAborted();
    if (this.#processes !== null && (!this.#isKnown || text.length >= longTextChars))
      return this.#processes.encode(text, addSpecialTokens, signal);
    const encoding = await this.#reference.encode(text, null, { addSpecialTokens });
    return Int32Array.from(encoding.getIds());
  }

  /**
   * How many tokens each text has at least, which takes a walk over it; 0 where nobody knows.
   * @throws the signal's reason
   */
  async fewestTokens(texts: readonly string[], signal?: AbortSignal): Promise<number[]> {
    const bound = this.#bound;
    return bound === null ? texts.map(() => 0) : this.#turns.run(() => bound.fewestTokens(texts), signal);
  }

  /** Text of a whole sequence of ids; ids outside the vocabulary add nothing. */
  decode(ids: Iterable<number>, options: { readonly skipSpecialTokens: boolean }): string {
    const detokenizer = this.detokenizer(options);
    return this.#fromStart(detokenizer.push(ids) + detokenizer.flush());
  }

  /**
   * The same of hundreds of thousands of ids.
   * @throws the signal's reason
   */
  decodeLong(
    ids: Int32Array,
    { skipSpecialTokens, signal }: { readonly skipSpecialTokens: boolean; readonly signal: AbortSignal },
  ): Promise<string> {
    const detokenizer = this.detokenizer({ skipSpecialTokens });
    function* text(): Steps<string> {
      let text = '';
      for (let at = 0; at < ids.length; at += stepIds) {
        text += detokenizer.push(ids.subarray(at, at + stepIds));
        yield;
      }
      return text + detokenizer.flush();
    }
    return this.#turns.run(text, signal).then((whole) => this.#fromStart(whole));
  }

  /** SentencePiece may write a space before the first word, which the decoder then takes away again. */
  #fromStart(text: string): string {
    return this.#dropsFirstSpace && text.startsWith(' ') ? text.slice(1) : text;
  }

  /** An incremental decoder for text that continues a prompt. */
  detokenizer(options: { readonly skipSpecialTokens: boolean }): Detokenizer {
    return new Detokenizer((id) =>
      options.skipSpecialTokens && this.#specialIds.has(id) ? noBytes : this.tokenBytes(id),
    );
  }

  /** Id of a token by its exact spelling (as in `added_tokens`), or null. */
  tokenId(token: string): number | null {
    return this.#reference.tokenToId(token);
  }

  /** Whether the id is a marker such as the end of a turn, and not a piece of text. */
  isMarker(id: number): boolean {
    return this.#addedIds.has(id);
  }

  /** Whether the id is a control token, which has no place in the text of an answer. */
  isSpecial(id: number): boolean {
    return this.#specialIds.has(id);
  }

  /** Bytes of one token; empty for an id outside the vocabulary. */
  tokenBytes(id: number): Uint8Array {
    let bytes = this.#bytes.get(id);
    if (bytes === undefined) {
      const token = this.#reference.idToToken(id);
      bytes = token === null ? noBytes : bytesOfToken(token, this.#spelling);
      this.#bytes.set(id, bytes);
    }
    return bytes;
  }

  /** One token as the vocabulary spells it; empty for an id outside of it. */
  tokenName(id: number): string {
    return this.#reference.idToToken(id) ?? '';
  }

  /** One token as text, for logprobs; bytes that are no character by themselves show as U+FFFD. */
  tokenText(id: number): string {
    return decoder.decode(this.tokenBytes(id));
  }
}

const noBytes = new Uint8Array(0);
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
