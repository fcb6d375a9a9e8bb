// Names of the files of a split GGUF checkpoint, as llama.cpp's gguf-split and gguf-py write them: STEM-00001-of-00003.gguf.

export interface GgufPartName {
  readonly stem: string;
  /** From 1. */
  readonly number: number;
  /** Of the set; 2 or more. */
  readonly count: number;
}

/** Null for the name of a whole file, which STEM-00001-of-00001.gguf is too. */
export function parseGgufPartName(file: string): GgufPartName | null {
  const [, stem, digits, countDigits] = /^(.+)-(\d{5})-of-(\d{5})\.gguf$/.exec(file) ?? [];
  if (stem === undefined) return null;
  const [number, count] = [Number(digits), Number(countDigits)];
  return count >= 2 && number >= 1 && number <= count ? { stem, number, count } : null;
}

/** @param number from 1 */
export function ggufPartName(stem: string, number: number, count: number): string {
  const five = (value: number): string => String(value).padStart(5, '0');
  return `${stem}-${five(number)}-of-${five(count)}.gguf`;
}

/** The file that stands for the checkpoint: the first of the set, where the file is a part. */
export function firstGgufPart(file: string): string {
  const part = parseGgufPartName(file);
  return part === null ? file : ggufPartName(part.stem, 1, part.count);
}

/** All names of the set that a file is of; of a whole file its own. */
export function ggufPartNames(file: string): string[] {
  const part = parseGgufPartName(file);
  if (part === null) return [file];
  const { stem, count } = part;
  return Array.from({ length: count }, (_, at) => ggufPartName(stem, at + 1, count));
}
