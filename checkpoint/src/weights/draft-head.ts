// The head that drafts are read from on a GPU: GpuBackend::narrowed() (native/src/backends/gpu) makes it of a head of 16
// bits, because each draft reads all of it and the model itself checks what comes of it.

import { joinedWeights, type ResidentWeights } from './resident-weights.js';

/**
 * Weights of a model that drafts with its own layer, its second head among them. One whose ranks' rows do not fill tiles
 * of 64 is counted with a scale for each row, of which it has fewer.
 */
export function withDraftHead(weights: ResidentWeights): ResidentWeights {
  const heads = weights.matrices.filter(
    ({ use, parts }) =>
      use === 'every' &&
      parts.every(({ split, held }) => split === 'vocab' && (held === 'bfloat16' || held === 'float16')),
  );
  const narrowed = heads.map((head) => ({
    ...head,
    parts: head.parts.map((part) => ({ ...part, held: 'fp8Block' as const })),
  }));
  return joinedWeights(weights, { matrices: narrowed, vectors: [] });
}
