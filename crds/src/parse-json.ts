// JSON of files, whose content no error may repeat: what was meant as a checkpoint's file or a config may be a link to
// one of secrets, and errors reach clients, logs and statuses. JavaScript's own messages quote the text.

/** Says where a text is no JSON, where that is known, and nothing of what stands there. */
export class NotJsonError extends Error {
  override readonly name = 'NotJsonError';
}

/**
 * @param name what errors call the text
 * @throws NotJsonError, without a cause: that would quote the text where errors are logged
 */
export function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new NotJsonError(`${name} is not JSON${placeIn((error as Error).message)}`);
  }
}

/** The same of a text that must be an object. @throws NotJsonError */
export function parseJsonObject(name: string, text: string): Record<string, unknown> {
  const value = parseJson(name, text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new NotJsonError(`${name} is not a JSON object`);
  return value as Record<string, unknown>;
}

/** V8 names a place, or quotes what it met. */
function placeIn(message: string): string {
  if (message.startsWith('Unexpected end')) return ': it ends too early';
  // Last, so that a text that is quoted cannot pose as one.
  const place = / at position (\d+)(?: \(line (\d+) column (\d+)\))?$/.exec(message);
  if (place === null) return '';
  const [, position = '', line, column] = place;
  return line === undefined || column === undefined
    ? `: see position ${position}`
    : `: see line ${line}, column ${column}`;
}
