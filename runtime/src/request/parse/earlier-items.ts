// What a request of OpenAI's Responses names of earlier ones: the response that it continues, and items that its input
// refers to by their ids. Whoever stores them finds them; here they become part of the body. Pure.

import type { Fields } from '../body/field-table.js';
import { firstOf, invalidRequest, violationAt, type Violation } from '../body/violation.js';
import { maxResponseId } from '../fields/responses-fields.js';
import { maxItems, unstored, type RawItem } from '../fields/responses-input.js';

/** Names in a body that may be invalid yet. */
interface EarlierNames {
  /** Id of the response that it continues; null: none. */
  readonly previous: string | null;
  /** In the order of the input. */
  readonly itemIds: readonly string[];
}

/** What is stored under those names. */
export interface EarlierItems {
  /** The conversation that the request continues, with its last answer. */
  readonly conversation: readonly RawItem[];
  readonly referenced: ReadonlyMap<string, RawItem>;
}

export function earlierNames(body: unknown): EarlierNames {
  const { previous_response_id: previous, input } = (body ?? {}) as Fields;
  return {
    previous: typeof previous === 'string' && previous.length <= maxResponseId ? previous : null,
    itemIds: Array.isArray(input) ? input.map(referenceOf).filter((id) => id !== null) : [],
  };
}

/**
 * The body with what its input refers to.
 * @param earlier null: nothing is stored here
 * @throws ApiError invalid_request
 */
export function withReferenced(body: unknown, earlier: EarlierItems | null): unknown {
  const { input } = (body ?? {}) as Fields;
  if (earlier === null || !Array.isArray(input)) return body;
  const { referenced } = earlier;
  const violations = firstOf(violationsOfReferences(input, referenced));
  if (violations.length > 0) throw invalidRequest(violations);
  const items = input.map((item: unknown) => referenced.get(referenceOf(item) ?? '') ?? item);
  return { ...(body as Fields), input: items };
}

function* violationsOfReferences(
  input: readonly unknown[],
  referenced: EarlierItems['referenced'],
): Generator<Violation> {
  const ids = new Set<string>();
  for (const [index, item] of input.entries()) {
    const id = referenceOf(item);
    if (id === null) continue;
    const at = `input.${String(index)}`;
    if (!referenced.has(id))
      yield violationAt(at, 'refers to an item that is not stored, or no longer: send the item itself');
    // A few bytes would ask for megabytes as often as they are sent.
    else if (ids.has(id)) yield violationAt(at, 'refers to an item that an element before it refers to');
    ids.add(id);
  }
}

/** Of a conversation that is continued. */
export function violationsOfLength(items: readonly RawItem[]): Violation[] {
  const why = `continues a conversation that has ${String(items.length)} items with these; the limit is ${String(maxItems)}`;
  return items.length > maxItems ? [violationAt('previous_response_id', why)] : [];
}

interface StoringFields {
  readonly previous_response_id?: string | undefined;
  readonly background?: boolean | undefined;
  readonly store?: boolean | undefined;
}

/** @param canStore whether anything is stored here */
export function violationsOfStoring(
  { previous_response_id: previous, background, store }: StoringFields,
  canStore: boolean,
): Violation[] {
  const refused = (field: string): Violation =>
    violationAt(field, `is not supported with this value: ${unstored}`);
  if (!canStore)
    return [
      ...(previous === undefined ? [] : [refused('previous_response_id')]),
      ...(background === true ? [refused('background')] : []),
    ];
  return background === true && store === false
    ? [violationAt('background', 'needs store: true: the response is fetched from where it is stored')]
    : [];
}

/** Id of the item that is referred to; null: it is an item itself, or nothing that can be read. */
function referenceOf(item: unknown): string | null {
  if (typeof item !== 'object' || item === null) return null;
  const { type, id } = item as Fields;
  return type === 'item_reference' && typeof id === 'string' ? id : null;
}
