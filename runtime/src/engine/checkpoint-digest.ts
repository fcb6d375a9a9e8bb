import { openCheckpoint } from '@llmservice/checkpoint/local';
import { createHash } from 'node:crypto';

/** Of a checkpoint's shape, and of names, types and places of its tensors; not of their data. */
export async function checkpointDigest(modelDir: string): Promise<string> {
  const { shape, tensors } = await openCheckpoint(modelDir);
  return createHash('sha256').update(JSON.stringify({ shape, tensors })).digest('hex').slice(0, 16);
}
