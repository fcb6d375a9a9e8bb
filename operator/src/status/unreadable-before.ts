// Whether the status tells that this service's checkpoint ended its reader.

import { failureKinds, type Failure, type LlmServiceStatus } from '@llmservice/crds';

const reason = 'CheckpointUnreadable';

/** @returns null: nothing of the kind, or of another generation */
export function unreadableBefore({ conditions = [] }: LlmServiceStatus, generation: number): Failure | null {
  const told = conditions.find(({ type }) => type === 'ModelResolved');
  if (told?.status !== 'False' || told.reason !== reason || told.observedGeneration !== generation)
    return null;
  // It is added anew.
  const { remedy } = failureKinds[reason];
  return { reason, message: told.message.replace(remedy, '').replace(/\.? *$/, '') };
}
