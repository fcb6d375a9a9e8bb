// Numbers of earlier calls as the model wrote them, and names that are whole numbers in their place. A template writes what
// JavaScript has, which is neither all digits of a long number nor a written .0, and has such names first: the model would
// read another call than its own, and the prefix cache would end there. So they give way to integers of sixteen digits, which
// are exact and keep their place as names, until the text is made. A template that computed with one, which none is known to
// do, would compute with another.

import { randomInt } from 'node:crypto';
import { textOfNumber } from '../../tools/exact-json.js';
import { namesOf } from '../../tools/written-names.js';
import type { Fields } from '../body/field-table.js';
import type { Message } from './messages.js';

/** Of one conversation, beyond which indices would have more digits. */
const most = 1_000_000;

export interface StoodIn {
  readonly messages: readonly Fields[];
  readonly tools: readonly unknown[] | undefined;
  /** A text that was made of them, with what they had. */
  readonly restore: (text: string) => string;
}

/** @param messages as `readMessages` gives them: with fewer such numbers and names than there are stand-ins */
export function withStandIns(messages: readonly Message[], tools?: readonly unknown[]): StoodIn {
  // Begins every stand-in. At random: nobody can write one into a conversation.
  const prefix = randomInt(1_000_000_000, 9_000_000_000);
  const texts: string[] = [];
  const standIn = (text: string): number => prefix * most + texts.push(text) - 1;
  const replaced = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const number = textOfNumber(value);
    if (number !== null) return standIn(number);
    if (Array.isArray(value)) return value.map(replaced);
    const members = new Map<string, unknown>(Object.entries(value));
    const named = (name: string): string => (/^\d{1,10}$/.test(name) ? String(standIn(name)) : name);
    return Object.fromEntries(namesOf(value).map((name) => [named(name), replaced(members.get(name))]));
  };
  const stoodIn = messages.map((message) =>
    message.tool_calls === undefined ? message : { ...message, tool_calls: replaced(message.tool_calls) },
  );
  const stoodInTools = tools?.map(replaced);
  const standIns = new RegExp(`${String(prefix)}(\\d{6})`, 'g');
  return {
    messages: stoodIn,
    tools: stoodInTools,
    restore: (text) =>
      texts.length === 0
        ? text
        : text.replace(standIns, (whole, index: string) => texts[Number(index)] ?? whole),
  };
}
