// Runs in a worker thread: encodes texts with a tokenizer made from the same tokenizer.json as the server's.

import Tinypool from 'tinypool';
import { referenceTokenizer } from './reference-tokenizer.js';

/** tokenizer.json in UTF-8. */
export type EncodedBy = SharedArrayBuffer;

export interface LongText {
  readonly text: string;
  readonly addSpecialTokens: boolean;
}

const reference = referenceTokenizer(
  Buffer.from(new Uint8Array(Tinypool.workerData as EncodedBy)).toString('utf8'),
);

/** The ids move to the thread that asked: nothing is copied. */
export default async function encode({ text, addSpecialTokens }: LongText): Promise<unknown> {
  const encoding = await reference.encode(text, null, { addSpecialTokens });
  return Tinypool.move(Int32Array.from(encoding.getIds()));
}
