// Text that is added to markup is escaped, as MarkupSafe does it.

import type { Meter } from './meter.js';
import { pythonText } from './python-text.js';
import { Markup, type Value } from './values.js';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  "'": '&#39;',
  '"': '&#34;',
};

export function escaped(value: Value, meter: Meter): Markup {
  if (value instanceof Markup) return value;
  const text = pythonText(value, meter);
  meter.chars(text.length * 5);
  return new Markup(text.replaceAll(/[&<>'"]/g, (each) => entities[each] ?? each));
}
