// Settings as people write them in an environment variable or behind a flag: text to value, or an Error that says
// what was expected.

export function readText(text: string): string {
  if (text.trim() === '') throw new Error('expected a text that is not empty');
  return text.trim();
}

export function readInteger(text: string): number {
  if (!/^\s*-?\d+\s*$/.test(text)) throw new Error('expected a whole number');
  return Number(text);
}

export function readBoolean(text: string): boolean {
  const value = text.trim().toLowerCase();
  if (['true', '1', 'yes'].includes(value)) return true;
  if (['false', '0', 'no'].includes(value)) return false;
  throw new Error('expected true or false');
}

/** Parts between commas. */
export function readList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export function readJsonObject(text: string): object {
  const expected = 'expected a JSON object';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${expected}: ${(error as Error).message}`, { cause: error });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(expected);
  return value;
}

/** fp8 goes by its full name too, as in vLLM. */
export function readKvCacheDtype(text: string): string {
  const name = readText(text);
  return name === 'fp8_e4m3' ? 'fp8' : name;
}

/** 0.85 → 85. */
export function readPercent(text: string): number {
  const share = Number(text);
  const percent = Math.round(share * 100);
  if (text.trim() === '' || !(share > 0 && share <= 1) || Math.abs(percent - share * 100) > 1e-6) {
    throw new Error('expected a number above 0 and up to 1, in whole percents, such as 0.85');
  }
  return percent;
}
