// The adapters of a service against its model, by two small reads of each: its config, and the header of its weights. What the
// engine would refuse is refused before a pod exists, by the field that names the adapter.

import {
  adapterConfigFile,
  adapterWeightsFile,
  checkSmallFile,
  judgeAdapter,
  type ModelShape,
} from '@llmservice/checkpoint';
import { FailureError } from '@llmservice/crds';
import type { CheckpointLocation, WantedService } from '../domain/wanted-service.js';
import { longReadBytes, readHeaders, type CheckpointFiles } from './read-safetensors.js';

const parallelAdapters = 4;

/** @throws FailureError naming every adapter that cannot be served; S3Unavailable where that cannot be said of one */
export async function checkAdapters(
  { adapters, adapterRoom }: Pick<WantedService, 'adapters' | 'adapterRoom'>,
  open: (location: CheckpointLocation) => CheckpointFiles,
  shape: ModelShape,
): Promise<void> {
  const failures = new Map<number, FailureError>();
  const queue = [...adapters.entries()];
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [at, { location }] = next;
      try {
        await checkAdapter(open(location), shape, adapterRoom.maxRank);
      } catch (error) {
        if (!(error instanceof FailureError)) throw error;
        failures.set(at, error);
      }
    }
  };
  await Promise.all(Array.from({ length: parallelAdapters }, worker));
  if (failures.size > 0)
    throw refusalOf(
      [...failures].sort(([a], [b]) => a - b),
      adapters,
    );
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

function refusalOf(
  failures: readonly (readonly [at: number, error: FailureError])[],
  adapters: WantedService['adapters'],
): FailureError {
  // Of what cannot be read now, nothing is refused.
  const away = failures.find(([, { failure }]) => failure.reason === 'S3Unavailable');
  const [first] = failures;
  const { reason = 'InvalidEngineConfig', detail } = (away ?? first)?.[1].failure ?? {};
  const texts = failures.map(
    ([at, { message }]) => `spec.adapters[${String(at)}].uri ${adapters[at]?.uri ?? ''}: ${message}`,
  );
  return new FailureError(reason, texts.join('; '), failures.length === 1 ? detail : undefined);
}
