// The adapters of a service against its model, by two small reads of each: its config, and the header of its weights. What the
// engine would refuse reaches no pod, and is reported by the field that names the adapter.

import {
  adapterConfigFile,
  adapterWeightsFile,
  checkSmallFile,
  judgeAdapter,
  type ModelShape,
} from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import type { RefusedAdapter } from '../domain/checkpoint.js';
import type { CheckpointLocation, WantedService } from '../domain/wanted-service.js';
import { LongCheckpointError, withoutLong } from './long-reads.js';
import { longReadBytes, readHeaders, type CheckpointFiles } from './read-safetensors.js';

const parallelAdapters = 4;
/** Characters. */
const maxMessage = 500;

/** @returns those that cannot be served, or of which that cannot be said now, in their order */
export async function checkAdapters(
  { adapters, adapterRoom }: Pick<WantedService, 'adapters' | 'adapterRoom'>,
  open: (location: CheckpointLocation) => CheckpointFiles,
  shape: ModelShape,
): Promise<RefusedAdapter[]> {
  const refused: RefusedAdapter[] = [];
  const queue = [...adapters.entries()];
  const check = async (at: number, uri: string, files: CheckpointFiles): Promise<void> => {
    try {
      await checkAdapter(files, shape, adapterRoom.maxRank);
    } catch (error) {
      if (!(error instanceof FailureError)) throw error;
      const { message, ...failure } = error.failure;
      refused.push({ at, uri, failure: { ...failure, message: bounded(message) } });
    }
  };
  const long: typeof queue = [];
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [at, { location, uri }] = next;
      try {
        await check(at, uri, withoutLong(open(location)));
      } catch (error) {
        if (!(error instanceof LongCheckpointError)) throw error;
        long.push(next);
      }
    }
  };
  await Promise.all(Array.from({ length: parallelAdapters }, worker));
  // Several at once would take more memory than one reader has.
  for (const [at, { location, uri }] of long) await check(at, uri, open(location));
  return refused.sort((one, other) => one.at - other.at);
}

async function checkAdapter(files: CheckpointFiles, shape: ModelShape, maxRank: number): Promise<void> {
  const config = await files.read(adapterConfigFile, longReadBytes);
  if (config === null) {
    const message = `there is no ${adapterConfigFile}; expected is a folder as PEFT writes it`;
    throw new FailureError('CheckpointIncomplete', message);
  }
  checkSmallFile(adapterConfigFile, config.fileBytes);
  const headers = await readHeaders(files, [adapterWeightsFile]);
  const tensors = headers.flatMap((header) => header.tensors);
  judgeAdapter(new TextDecoder().decode(config.bytes), tensors, shape, maxRank);
}

/** The API server stores another text in its place, so that the status would differ for ever. */
const halfCharacter = /[\uD800-\uDBFF]$/;

/** Names in an adapter's files are as long as somebody makes them. */
const bounded = (message: string): string =>
  message.length <= maxMessage ? message : `${message.slice(0, maxMessage).replace(halfCharacter, '')}…`;
