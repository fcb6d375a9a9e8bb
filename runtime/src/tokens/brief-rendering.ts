// Renders a short conversation on the spot: a template is a program, so its work is counted, and one that would hold up
// other streams is given up for a process to do. The count is of steps and of what they produce, not of time: equal
// conversations are always rendered at the same place.

import { MeteredInterpreter, TooMuchWork } from './metered-interpreter.js';

/** Of all strings, numbers and the like that a conversation consists of, and of its characters. */
const maxValues = 500;
const maxChars = 16_384;

/** It makes much out of little within one step. */
const unbounded = /\brange\b/;

/** Whether a template may be rendered on the spot at all. */
export function isBrief(template: string): boolean {
  return !unbounded.test(template);
}

/**
 * @param template a parsed program
 * @param variables plain data
 * @returns the text, or null where it takes more work than is done on the spot
 * @throws what the template throws
 */
export function renderBriefly(
  template: unknown,
  variables: Readonly<Record<string, unknown>>,
): string | null {
  if (!isShort(variables)) return null;
  try {
    return new MeteredInterpreter(variables).render(template);
  } catch (error) {
    if (error instanceof TooMuchWork) return null;
    throw error;
  }
}

function isShort(variables: unknown): boolean {
  let values = 0;
  let chars = 0;
  const fits = (value: unknown): boolean => {
    values += 1;
    if (typeof value === 'string') chars += value.length;
    if (values > maxValues || chars > maxChars) return false;
    return typeof value !== 'object' || value === null || Object.values(value).every(fits);
  };
  return fits(variables);
}
