// The order in which a JSON text names what an object has: JavaScript puts names that are whole numbers first.

import { randomUUID } from 'node:crypto';

/** Of objects whose names JavaScript has in another order. */
const written = new WeakMap<object, readonly string[]>();

/** A name, or the end of one that has a quote in it: within a text both quotes would be escaped. */
const wholeNumber = /"(\d{1,10})"(?=\s*:)/g;

/** @param value what JSON.parse made of the text: `namesOf` has its names as the text has them */
export function noteNames(value: unknown, text: string): void {
  if (text.search(wholeNumber) === -1) return;
  // Behind a mark that is in no text they are names like all others.
  const mark = randomUUID();
  note(value, JSON.parse(text.replace(wholeNumber, `"${mark}$1"`)), mark);
}

/** Names of a JSON object, in the order that was noted. */
export const namesOf = (value: object): readonly string[] => written.get(value) ?? Object.keys(value);

/** An object of the same names, in their order. */
export function mapMembers(value: object, map: (member: unknown) => unknown): object {
  const mapped = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, map(member)]));
  const names = written.get(value);
  if (names !== undefined) written.set(mapped, names);
  return mapped;
}

function note(value: unknown, marked: unknown, mark: string): void {
  if (!isObject(value) || !isObject(marked)) return;
  const members = Object.entries(marked).map(([name, member]) => ({ name: name.replace(mark, ''), member }));
  if (!Array.isArray(value) && Object.keys(marked).some((name) => name.includes(mark)))
    written.set(
      value,
      members.map(({ name }) => name),
    );
  for (const { name, member } of members) note(value[name], member, mark);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
