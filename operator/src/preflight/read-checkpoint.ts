// Judges a checkpoint by a few small reads, before any device is taken: config.json, the weight index, and the header
// of every weight file, or the header of a GGUF file, which is all of these. What is missing, cut short or
// unsupported is a typed failure that names the file.

import {
  chooseGguf,
  hasGgufTokenizer,
  hasMtp,
  inEngineNames,
  parseCheckpointConfig,
  rankWeightBytes,
  readGgufCheckpoint,
  readGgufHeader,
  weighCheckpoint,
  type ModelShape,
  type TensorEntry,
  type WeighOptions,
} from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { contentHash } from '../domain/content-hash.js';
import type { Checkpoint } from '../domain/checkpoint.js';
import { readMtpHead, type HeadSource } from './read-mtp-head.js';
import {
  longReadBytes,
  readConfig,
  readShards,
  type CheckpointFiles,
  type ConfigFile,
} from './read-safetensors.js';

const tokenizerFile = 'tokenizer.json';
/** Vocabularies of half a million tokens make 20 MiB. */
const maxGgufHeaderBytes = 64 * 2 ** 20;

/** What the files of one checkpoint say, before a head from another is looked for. */
interface Trunk {
  readonly shape: ModelShape;
  readonly tensors: readonly TensorEntry[];
  readonly fileBytes: number;
  /** Of every file that was read. */
  readonly etags: ReadonlyMap<string, string>;
}

/**
 * @param gguf the GGUF file that the resource names; null for a folder
 * @param source where the head for multi-token prediction is, if the checkpoint has none; null: nowhere
 * @throws FailureError
 */
export async function readCheckpoint(
  files: CheckpointFiles,
  gguf: string | null,
  options: WeighOptions,
  source: HeadSource | null = null,
): Promise<Checkpoint> {
  const { shape, tensors, fileBytes, etags } = await readTrunk(files, gguf);
  const head = source === null || hasMtp(tensors) ? null : await readMtpHead(source, shape);
  const weights = weighCheckpoint({ shape, tensors }, head, options);
  const headEtags = [...(head?.etags ?? [])].map(([file, etag]) => [`head/${file}`, etag] as const);
  return {
    model: { shape, weights },
    weightBytes: rankWeightBytes(weights, { rank: 0, size: 1, kvHeads: shape.kvHeads }),
    fileBytes: fileBytes + (head?.fileBytes ?? 0),
    fingerprint: contentHash([...etags, ...headEtags].sort()),
  };
}

async function readTrunk(files: CheckpointFiles, gguf: string | null): Promise<Trunk> {
  if (gguf !== null) return readGguf(files, gguf);
  const config = await readConfig(files);
  if (config !== null) return readSafetensors(files, config);
  const names = (await files.list()).map(({ name }) => name);
  const only = chooseGguf('the folder', names);
  if (only !== null) return readGguf(files, only);
  throw new FailureError('ModelNotFound', 'the folder has no config.json and no .gguf file');
}

async function readGguf(files: CheckpointFiles, file: string): Promise<Trunk> {
  const first = await files.read(file, 1);
  if (first === null) throw new FailureError('ModelNotFound', `there is no ${file}`);
  const read = async (begin: number, end: number): Promise<Uint8Array> => {
    if (end > maxGgufHeaderBytes) {
      throw new FailureError(
        'CheckpointCorrupt',
        `${file}: its header has more than ${maxGgufHeaderBytes} bytes, far more than such a file takes`,
      );
    }
    return (await files.read(file, end - begin, begin))?.bytes ?? new Uint8Array();
  };
  // Vocabularies make all headers longer than a MiB.
  if (first.fileBytes > longReadBytes) files.beforeLong?.();
  const { header } = await readGgufHeader(file, first.fileBytes, read, { arrays: false });
  const { shape, tensors } = readGgufCheckpoint(header);
  // One that lies beside the file is taken instead of the file's own.
  const tokenizer = await files.readOptional(tokenizerFile, 1);
  if (tokenizer === null && !hasGgufTokenizer(header)) {
    throw new FailureError(
      'TokenizerMissing',
      `${file} has no tokenizer (tokenizer.ggml.model), and there is no tokenizer.json beside it`,
    );
  }
  const etags = new Map([[file, first.etag]]);
  if (tokenizer !== null) etags.set(tokenizerFile, tokenizer.etag);
  return { shape, tensors, fileBytes: first.fileBytes, etags };
}

async function readSafetensors(files: CheckpointFiles, config: ConfigFile): Promise<Trunk> {
  const etags = new Map<string, string>();
  etags.set('config.json', config.etag);
  const shape = parseCheckpointConfig(config.text);

  const tokenizer = await files.read(tokenizerFile, 1);
  if (tokenizer === null) throw new FailureError('TokenizerMissing', 'the folder has no tokenizer.json');
  etags.set(tokenizerFile, tokenizer.etag);

  const { tensors, fileBytes } = await readShards(files, etags);
  return { shape, tensors: inEngineNames(shape, tensors), fileBytes, etags };
}
