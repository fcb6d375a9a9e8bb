// str.format(): replacement fields by number or name, with conversions and specifications.

import { TemplateError } from './errors.js';
import { formatValue } from './format-spec.js';
import type { Meter } from './meter.js';
import { pythonRepr, pythonText } from './python-text.js';
import type { Args, Value } from './values.js';

const fields = /\{\{|\}\}|\{(\w*)(?:!([rs]))?(?::([^{}]*))?\}|[{}]/g;

/** @throws TemplateError as Python raises it */
export function formatString(text: string, { positional, named }: Args, meter: Meter): string {
  let next = 0;
  let isNumbered = false;
  const lookUp = (name: string): Value => {
    const index = name === '' ? next++ : /^\d+$/.test(name) ? Number(name) : null;
    isNumbered ||= name !== '' && index !== null;
    if (isNumbered && next > 0)
      throw new TemplateError('cannot switch between manual and automatic field numbering');
    const value = index === null ? named.get(name) : positional[index];
    if (value === undefined)
      throw new TemplateError(index === null ? `'${name}'` : 'Replacement index out of range');
    return value;
  };
  return text.replaceAll(fields, (whole: string, name?: string, conversion?: string, spec = '') => {
    meter.spend();
    if (whole === '{{' || whole === '}}') return whole.charAt(0);
    if (name === undefined) throw new TemplateError(`Single '${whole}' encountered in format string`);
    const value = lookUp(name);
    const converted =
      conversion === undefined ? value : (conversion === 's' ? pythonText : pythonRepr)(value, meter);
    const part = formatValue(converted, String(spec), meter);
    meter.chars(part.length);
    return part;
  });
}
