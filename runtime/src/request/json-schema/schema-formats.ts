// The formats of JSON Schema as regular expressions that an answer must match. The compiler of schemas has its own for
// most of them, which let through days that no month has, octets with leading zeros and names that are too long.

import type { JsonPatterns } from './json-patterns.js';
import { mapSubschemas, type Schema } from './subschemas.js';

const digits = '[0-9]';
const dayOfMonth =
  '((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))';
/** Two digits that four divides, but 00. */
const byFour = '(0[48]|[2468][048]|[13579][26])';
const leapYear = `([0-9][0-9]${byFour}|${byFour}00)`;
const date = `(${digits}{4}-${dayOfMonth}|${leapYear}-02-29)`;
const hourAndMinute = '([01][0-9]|2[0-3]):[0-5][0-9]';
const time = `${hourAndMinute}:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]${hourAndMinute})`;
const label = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
/** At most 191 of the 253 characters that a name may have. */
const hostname = `${label}(\\.${label}){0,2}`;
const octet = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const group = '[0-9A-Fa-f]{1,4}';
const daily = '([0-9]{1,4}Y([0-9]{1,4}M([0-9]{1,4}D)?)?|[0-9]{1,4}M([0-9]{1,4}D)?|[0-9]{1,4}D)';
const hourly = 'T([0-9]{1,4}H([0-9]{1,4}M([0-9]{1,4}S)?)?|[0-9]{1,4}M([0-9]{1,4}S)?|[0-9]{1,4}S)';
const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,30}";

/** RFC 4291: eight groups, of which a run may be left out once. */
const ipv6 = [
  `(${group}:){7}${group}`,
  ...[1, 2, 3, 4, 5, 6].map(
    (before) => `(${group}:){1,${String(before)}}(:${group}){1,${String(7 - before)}}`,
  ),
  `(${group}:){1,7}:`,
  `:((:${group}){1,7}|:)`,
].join('|');

const formats: Readonly<Record<string, string>> = {
  date,
  time,
  'date-time': `${date}T${time}`,
  duration: `P(${daily}(${hourly})?|${hourly}|[0-9]{1,4}W)`,
  hostname,
  email: `${atom}(\\.${atom}){0,1}@${label}(\\.${label}){1,2}`,
  ipv4: `(${octet}\\.){3}${octet}`,
  ipv6,
  uuid: '[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}',
};

export const knownFormats: readonly string[] = Object.keys(formats);

/**
 * The schema as the compiler is to have it: a pattern in place of each known format, and patterns as JSON writes them.
 * @throws UnusablePattern
 */
export function schemaToCompile(schema: unknown, patterns: JsonPatterns): unknown {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema;
  const { format, ...others } = mapSubschemas(schema as Schema, (each) => schemaToCompile(each, patterns));
  const ofFormat = typeof format === 'string' ? formats[format] : undefined;
  if (ofFormat !== undefined) return { ...others, pattern: `^(${ofFormat})$` };
  const { pattern, patternProperties, ...rest } = others;
  return {
    ...rest,
    ...(typeof pattern === 'string' && { pattern: patterns.inJson(pattern) }),
    ...(patternProperties !== undefined && {
      patternProperties: Object.fromEntries(
        Object.entries(patternProperties as object).map(([name, each]) => [
          patterns.inJson(name),
          each as unknown,
        ]),
      ),
    }),
    ...(format !== undefined && { format }),
  };
}
