// What a replica's processes take of the machine's memory beside the buffers of its engine: Node in each, the tokenizer in
// those that have one, and what the work of one takes. The memory plan counts it on the CPU; the runtime bounds the work
// by the same figures. Pure; all sizes in bytes.

import { mib } from '@llmservice/crds';

/** Room for the work of one process, where the machine has little. */
export const workRoom = {
  /** A text of a million characters takes 150 MB; a conversation of a million tokens some 500. */
  textBytes: 192 * mib,
  /** What usual schemas take over 200,000 ids: 20 MB. */
  formBytes: 256 * mib,
} as const;

/** Anonymous memory of a demo model's processes, as the kernel reports it, rounded up. */
const atRest = {
  rank: 64 * mib,
  server: 112 * mib,
  launcher: 32 * mib,
  text: 64 * mib,
  forms: 16 * mib,
} as const;

/**
 * Of an id of the vocabulary, measured with 50,000 to 250,000: 1.6 kB in the server and in the engine, whose tables decode
 * too, and 1.2 kB in each of two processes that read text, one of them at work.
 */
const bytesPerId = 6 * 1024;

/**
 * Of one of the ranks that share a machine: at rest, and with one text or form at work. More at once find what the plan's
 * share of the memory leaves.
 */
export function hostProcessBytes(vocabSize: number, ranks: number): number {
  const { rank, server, launcher, text, forms } = atRest;
  const work = Math.max(workRoom.textBytes, workRoom.formBytes);
  return rank + Math.ceil((server + launcher + text + forms + work + bytesPerId * vocabSize) / ranks);
}
