// What a request of OpenAI's Responses names of what is stored: the response or conversation that it continues, and items
// that its input refers to by their ids. Whoever stores them finds them; here they become part of the body. Pure.

import type { Fields } from '../body/field-table.js';
import { firstOf, invalidRequest, violationAt, type Violation } from '../body/violation.js';
import { maxResponseId } from '../fields/responses-fields.js';
import { maxItems, unstored, type RawItem } from '../fields/responses-input.js';

/** What a request continues. */
export interface Continued {
  readonly kind: 'response' | 'conversation';
  readonly id: string;
}

/** Names in a body that may be invalid yet. */
interface EarlierNames {
  /** Null: nothing; or both, which is refused. */
  readonly continued: Continued | null;
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
  const { previous_response_id, conversation, input } = (body ?? {}) as Fields;
  const all = [named('response', previous_response_id), named('conversation', idIn(conversation))];
  const [continued = null, other] = all.filter((each) => each !== null);
  return {
    continued: other === undefined ? continued : null,
    itemIds: Array.isArray(input) ? input.map(referenceOf).filter((id) => id !== null) : [],
  };
}

const named = (kind: Continued['kind'], id: unknown): Continued | null =>
  typeof id === 'string' && id !== '' && id.length <= maxResponseId ? { kind, id } : null;

/** Its id stands alone, or in an object. */
const idIn = (conversation: unknown): unknown =>
  typeof conversation === 'object' ? (conversation as Fields | null)?.['id'] : conversation;

/** Id of the conversation that a valid body names; null: none. */
export const conversationOf = ({ conversation }: StoringFields): string | null =>
  (typeof conversation === 'object' ? conversation.id : conversation) ?? null;

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
export function violationsOfLength(items: readonly RawItem[], { conversation }: StoringFields): Violation[] {
  const field = conversation === undefined ? 'previous_response_id' : 'conversation';
  const why = `continues a conversation that has ${String(items.length)} items with these; the limit is ${String(maxItems)}`;
  return items.length > maxItems ? [violationAt(field, why)] : [];
}

interface StoringFields {
  readonly previous_response_id?: string | undefined;
  readonly conversation?: string | { readonly id: string } | undefined;
  readonly background?: boolean | undefined;
  readonly store?: boolean | undefined;
}

/** @param canStore whether anything is stored here */
export function violationsOfStoring(
  { previous_response_id: previous, conversation, background, store }: StoringFields,
  canStore: boolean,
): Violation[] {
  const refused = (field: string): Violation =>
    violationAt(field, `is not supported with this value: ${unstored}`);
  if (!canStore)
    return [
      ...(previous === undefined ? [] : [refused('previous_response_id')]),
      ...(conversation === undefined ? [] : [refused('conversation')]),
      ...(background === true ? [refused('background')] : []),
    ];
  const violations: Violation[] = [];
  if (previous !== undefined && conversation !== undefined)
    violations.push(
      violationAt('previous_response_id', 'and conversation exclude each other: send one of them'),
    );
  if (background === true && store === false)
    violations.push(
      violationAt('background', 'needs store: true: the response is fetched from where it is stored'),
    );
  return violations;
}

/** Id of the item that is referred to; null: it is an item itself, or nothing that can be read. */
function referenceOf(item: unknown): string | null {
  if (typeof item !== 'object' || item === null) return null;
  const { type, id } = item as Fields;
  return type === 'item_reference' && typeof id === 'string' ? id : null;
}
