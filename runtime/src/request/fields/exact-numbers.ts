// Numbers of earlier calls as the model wrote them. A template writes what JavaScript has of a number, which is neither all
// digits of a long one nor a written .0: the model would read another call than its own, and the prefix cache would end
// there. So such a number gives way to an integer until the text is made. A template that computed with it, which none is
// known to do, would compute with another.

import { randomInt } from 'node:crypto';
import { textOfNumber } from '../../tools/exact-json.js';
import type { Message } from './messages.js';

/** Of one conversation, beyond which indices would have more digits. */
const most = 1_000_000;

export interface StoodIn {
  readonly messages: readonly Message[];
  /** A text that was made of the messages, with the numbers. */
  readonly restore: (text: string) => string;
}

/** @param messages as `readMessages` gives them: with fewer such numbers than there are stand-ins */
export function withStandIns(messages: readonly Message[]): StoodIn {
  // Begins every stand-in, which has sixteen digits and is exact. At random: nobody can write one into a conversation.
  const prefix = randomInt(1_000_000_000, 9_000_000_000);
  const numbers: string[] = [];
  const replaced = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const number = textOfNumber(value);
    if (number !== null) return prefix * most + numbers.push(number) - 1;
    if (Array.isArray(value)) return value.map(replaced);
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replaced(each)]));
  };
  const stoodIn = messages.map((message) =>
    message['tool_calls'] === undefined
      ? message
      : { ...message, tool_calls: replaced(message['tool_calls']) },
  );
  if (numbers.length === 0) return { messages: stoodIn, restore: (text) => text };
  const standIn = new RegExp(`${String(prefix)}(\\d{6})`, 'g');
  return {
    messages: stoodIn,
    restore: (text) => text.replace(standIn, (whole, index: string) => numbers[Number(index)] ?? whole),
  };
}
