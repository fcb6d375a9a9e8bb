// Calls of a whole answer, put together from what was reported of them one after the other.

import type { ToolCallDelta } from './tool.js';

export interface WholeCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export function wholeCalls(deltas: readonly ToolCallDelta[]): WholeCall[] {
  const calls: { id: string; name: string; fragments: string[] }[] = [];
  for (const { index, start, arguments: fragment } of deltas) {
    if (start !== null) calls[index] = { ...start, fragments: [] };
    calls[index]?.fragments.push(fragment);
  }
  return calls.map(({ id, name, fragments }) => ({ id, name, arguments: fragments.join('') }));
}
