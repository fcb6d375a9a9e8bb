// Judges a checkpoint by a few small reads, before any device is taken: config.json, the weight index, and the header
// of every weight file, or the headers of a GGUF checkpoint's files, which are all of these. What is missing, cut short or
// unsupported is a typed failure that names the file.

import {
  asStored,
  chooseGguf,
  ggufFiles,
  hasGgufTokenizer,
  hasDraftModel,
  hasMtp,
  inEngineForm,
  isOfFirstReleases,
  isOfFormerRelease,
  joinPacked,
  parseConfigObject,
  parseCheckpointConfig,
  parseGgufPartName,
  rankWeightBytes,
  readGgufCheckpoint,
  readGgufHeaders,
  weighCheckpoint,
  type DenseModule,
  type GgufFile,
  type ModelShape,
  type TensorEntry,
  type WeighOptions,
} from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import { contentHash } from '../domain/content-hash.js';
import type { Checkpoint } from '../domain/checkpoint.js';
import { readHead, type HeadSource } from './read-head.js';
import { readModules } from './read-modules.js';
import {
  longReadBytes,
  readConfig,
  readShards,
  type CheckpointFiles,
  type ConfigFile,
} from './read-safetensors.js';

const tokenizerFile = 'tokenizer.json';
const mistralTokenizerFile = 'tekken.json';
/** Vocabularies of half a million tokens make 20 MiB. */
const maxGgufHeaderBytes = 64 * 2 ** 20;

/** What the files of one checkpoint say, before a head from another is looked for. */
interface Trunk {
  readonly shape: ModelShape;
  readonly tensors: readonly TensorEntry[];
  /** What the pooled hidden states of an embedder go through. */
  readonly dense: readonly DenseModule[];
  readonly fileBytes: number;
  /** Of every file that was read. */
  readonly etags: ReadonlyMap<string, string>;
}

/**
 * @param gguf the GGUF file that the resource names, of a split one the first part; null for a folder
 * @param source where the head for multi-token prediction is, if the checkpoint has none, or the draft model; null: nowhere
 * @throws FailureError
 */
export async function readCheckpoint(
  files: CheckpointFiles,
  gguf: string | null,
  options: WeighOptions,
  source: HeadSource | null = null,
): Promise<Checkpoint> {
  const { shape, tensors, dense, fileBytes, etags } = await readTrunk(files, gguf);
  const { method } = options.speculative;
  const isOwn = !hasDraftModel({ method }) && hasMtp(tensors);
  const head = source === null || isOwn ? null : await readHead(source, method, shape);
  const weights = weighCheckpoint({ shape, tensors, dense }, head?.head ?? null, options);
  const headEtags = [...(head?.etags ?? [])].map(([file, etag]) => [`head/${file}`, etag] as const);
  const read = [...etags, ...headEtags].sort();
  return {
    model: { shape, weights },
    weightBytes: rankWeightBytes(weights, { rank: 0, size: 1, kvHeads: shape.kvHeads }),
    fileBytes: fileBytes + (head?.fileBytes ?? 0),
    fingerprint: contentHash(read),
    firstFingerprint: contentHash(read.filter(([file]) => isOfFirstReleases(file))),
    formerFingerprint: contentHash(read.filter(([file]) => isOfFormerRelease(file))),
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

async function readGguf(files: CheckpointFiles, name: string): Promise<Trunk> {
  const parts: GgufFile[] = [];
  const etags = new Map<string, string>();
  for (const part of await partsOf(files, name)) {
    const first = await files.read(part, 1);
    if (first === null) throw new FailureError('ModelNotFound', `there is no ${part}`);
    parts.push({ name: part, bytes: first.fileBytes });
    etags.set(part, first.etag);
  }
  const read = async (part: string, begin: number, end: number): Promise<Uint8Array> => {
    if (end > longReadBytes) files.beforeLong?.();
    return (await files.read(part, end - begin, begin))?.bytes ?? new Uint8Array();
  };
  const fileBytes = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  // Vocabularies make all headers longer than a MiB.
  if (fileBytes > longReadBytes) files.beforeLong?.();
  const { header } = await readGgufHeaders(parts, read, { arrays: false, maxBytes: maxGgufHeaderBytes });
  const { shape, tensors } = readGgufCheckpoint(header);
  // One that lies beside the file is taken instead of the file's own.
  const tokenizer = await files.readOptional(tokenizerFile, 1);
  if (tokenizer === null && !hasGgufTokenizer(header)) {
    throw new FailureError(
      'TokenizerMissing',
      `${name} has no tokenizer (tokenizer.ggml.model), and there is no tokenizer.json beside it`,
    );
  }
  if (tokenizer !== null) etags.set(tokenizerFile, tokenizer.etag);
  const { dense } = await readModules(files, shape.hidden, etags);
  return { shape, tensors, dense, fileBytes, etags };
}

/** A whole file needs no folder that may be listed. */
async function partsOf(files: CheckpointFiles, name: string): Promise<string[]> {
  if (parseGgufPartName(name) === null) return [name];
  const names = (await files.list()).map((file) => file.name);
  return ggufFiles('the folder', names, name);
}

async function readSafetensors(files: CheckpointFiles, config: ConfigFile): Promise<Trunk> {
  const etags = new Map<string, string>();
  etags.set('config.json', config.etag);
  const shape = parseCheckpointConfig(config.text);

  const tokenizer = await files.read(tokenizerFile, 1);
  if (tokenizer === null) throw await withoutTokenizer(files);
  etags.set(tokenizerFile, tokenizer.etag);
  const { dense } = await readModules(files, shape.hidden, etags);

  const { tensors, fileBytes } = await readShards(files, etags);
  const whole = joinPacked(parseConfigObject(config.text), inEngineForm(shape, tensors));
  return { shape: asStored(shape, tensors), tensors: whole, dense, fileBytes, etags };
}

async function withoutTokenizer(files: CheckpointFiles): Promise<FailureError> {
  const isMistral = (await files.readOptional(mistralTokenizerFile, 1)) !== null;
  const remedy = isMistral
    ? ` but a ${mistralTokenizerFile}, which is not read: add the tokenizer.json of the matching release in Hugging Face format`
    : '';
  return new FailureError('TokenizerMissing', `the folder has no tokenizer.json${remedy}`);
}
