// Whether the status says that this service's checkpoint ended its reader.

import { failureKinds, type Failure, type LlmServiceStatus } from '@llmservice/crds';

const reason = 'CheckpointUnreadable';

/** @returns null: nothing of the kind, or of another generation */
export function unreadableBefore({ conditions = [] }: LlmServiceStatus, generation: number): Failure | null {
  const condition = conditions.find(({ type }) => type === 'ModelResolved');
  if (
    condition?.status !== 'False' ||
    condition.reason !== reason ||
    condition.observedGeneration !== generation
  )
    return null;
  // It is added anew.
  const { remedy } = failureKinds[reason];
  return { reason, message: condition.message.replace(remedy, '').replace(/\.? *$/, '') };
}
