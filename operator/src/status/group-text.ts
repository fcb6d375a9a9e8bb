// What is said of a group that starts again, by the name of the pod that was lost and how.

import { withRemedy } from './answer.js';
import type { GroupLoss, Observed } from './observed.js';

/** Of the revision that this generation wants: those of others go by a rollout. */
export function currentLosses({ groupLosses, revision }: Observed): readonly GroupLoss[] {
  return groupLosses.filter((loss) => loss.revision === revision);
}

/** Null: none starts again. */
export function groupRestart(observed: Observed): string | null {
  const losses = currentLosses(observed);
  const [loss] = [...losses].sort((a, b) => Number(b.failure !== null) - Number(a.failure !== null));
  if (loss === undefined) return null;
  const { group, pod, worker, failure, how } = loss;
  const who = worker === 0 ? `its leader ${pod}` : `its pod ${pod} (worker ${String(worker)})`;
  const first = `The group ${group} starts again as one, since ${who} ${how === 'deleted' ? 'was deleted' : 'ended'}`;
  return failure === null ? `${first}.` : `${first} with ${failure.reason}: ${withRemedy(failure)}`;
}
