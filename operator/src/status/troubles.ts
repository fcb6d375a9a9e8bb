// Conditions that are not as one would have them, each reported once: several are often the echo of one cause. Pure.

import type { Condition, LlmServiceStatus } from '@llmservice/crds';

/** True where something is wrong or under way; they echo what the others say. */
const echoes: readonly string[] = ['Reconciling', 'Stalled', 'Ready'];
/** They concern nothing that a service waits for: not to know is no trouble. */
const gateNothing: readonly string[] = ['StreamingVerified'];

/** The causes first, in the order in which a service comes to be; Ready where it alone says so. */
export function troubles({ conditions = [] }: Pick<LlmServiceStatus, 'conditions'>): Condition[] {
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') {
    return conditions.filter(
      ({ type, status }) => !echoes.includes(type) && status === 'False' && type !== 'Serving',
    );
  }
  const seen = new Set<string>();
  const causes = conditions.filter(({ type, status, message }) => {
    if (echoes.includes(type) || status === 'True' || seen.has(message)) return false;
    if (gateNothing.includes(type) && status === 'Unknown') return false;
    seen.add(message);
    return true;
  });
  return ready === undefined || seen.has(ready.message) ? causes : [ready, ...causes];
}
