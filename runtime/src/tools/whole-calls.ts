// Calls of a whole answer, put together from what was reported of them one after the other.

import type { ToolCallDelta } from './tool.js';

export interface WholeCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  /** As of its deltas. */
  readonly isInput?: boolean;
}

export function wholeCalls(deltas: readonly ToolCallDelta[]): WholeCall[] {
  const calls: (Omit<WholeCall, 'arguments'> & { readonly fragments: string[] })[] = [];
  for (const { index, start, arguments: fragment, isInput } of deltas) {
    if (start !== null) calls[index] = { ...start, ...(isInput === true ? { isInput } : {}), fragments: [] };
    calls[index]?.fragments.push(fragment);
  }
  return calls.map(({ fragments, ...call }) => ({ ...call, arguments: fragments.join('') }));
}
