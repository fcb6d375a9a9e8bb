// Renders a short conversation on the spot: a template is a program, so its work is counted, and one that would hold up
// other streams is given up for a process to do. The count is of steps and of what they produce, not of time: equal
// conversations are always rendered at the same place.

import { renderTemplate } from './jinja/interpreter.js';
import { Meter, TooMuchWork } from './jinja/meter.js';
import type { Body } from './jinja/nodes.js';

/** Five milliseconds at worst. Public templates take 1,000 for ten messages, and up to 4,000 with tools. */
const maxSteps = 8000;

/** Of all strings, numbers and the like that a conversation consists of, and of its characters. */
const maxValues = 500;
const maxChars = 16_384;

/**
 * @param variables plain data
 * @returns the text, or null where it takes more work than is done on the spot
 * @throws what the template throws
 */
export function renderBriefly(template: Body, variables: Readonly<Record<string, unknown>>): string | null {
  if (!isShort(variables)) return null;
  try {
    return renderTemplate(template, variables, new Meter(maxSteps));
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
