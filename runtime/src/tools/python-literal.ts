// A value as Python writes it, as JSON: models write what they saw Python print.

const text = /'(?:[^'\\\n]|\\[^])*'|"(?:[^"\\\n]|\\[^])*"/y;
const other = /[[\]{},:]|[-+.\w]+/y;
const space = /\s*/y;

const constants: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };

/** Null: it is none, or has what JSON does not. */
export function pythonLiteralToJson(literal: string): string | null {
  const parts: string[] = [];
  let at = 0;
  const next = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(literal)?.[0] ?? null;
    at += found?.length ?? 0;
    return found;
  };
  for (next(space); at < literal.length; next(space)) {
    const quoted = next(text);
    const part = quoted === null ? next(other) : JSON.stringify(unescaped(quoted.slice(1, -1)));
    if (part === null) return null;
    // Python lets a comma stand behind the last.
    if ((part === ']' || part === '}') && parts.at(-1) === ',') parts.pop();
    parts.push(Object.hasOwn(constants, part) ? (constants[part] ?? part) : part);
  }
  try {
    // Apart: two numbers in a row are not one.
    JSON.parse(parts.join(' '));
    return parts.join('');
  } catch {
    return null;
  }
}

/** What stands behind a backslash, and what it means there, in the same order. */
const letters = '\\\'"abfnrtv';
const meanings = '\\\'"\x07\b\f\n\r\t\v';

/** What a text with Python's backslashes says; those that are no escape stand for themselves. */
function unescaped(written: string): string {
  return written.replace(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U(000[\da-fA-F]{5}|0010[\da-fA-F]{4})|([0-7]{1,3})|([^]))/g,
    (whole, hex?: string, short?: string, long?: string, octal?: string, letter: string = '') => {
      const code = hex ?? short ?? long;
      if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
      if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8));
      const meaning = letters.indexOf(letter);
      return meaning === -1 ? whole : meanings.charAt(meaning);
    },
  );
}
