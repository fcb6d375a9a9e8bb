// A regular expression as one that the compiler of grammars reads as it is meant: of what it does not hold a text to it
// ignores some and takes some for letters. The whole text is to be an instance, from the first character to the last.

import {
  CharSet,
  JS,
  type Assertion,
  type Concatenation,
  type Element,
  type NoParent,
  type Quantifier,
} from 'refa';

export class UnusablePattern extends Error {}

/** How texts are written where the pattern is held against them. */
export interface Alphabet {
  /** Characters that stand as they are. */
  readonly plain: CharSet;
  /** Others, and what follows the backslash that they are written with. */
  readonly escapes: ReadonlyMap<number, string>;
  /** Whether those are taken where plain characters would do. */
  readonly escaped: boolean;
}

const maximum = 0x10ffff;

export const characters = (...ranges: readonly (readonly [number, number])[]): CharSet =>
  CharSet.empty(maximum).union(ranges.map(([min, max]) => ({ min, max })));

/** The texts of answers, which have neither halves of a character nor the one that ends texts in C. */
export const plainText: Alphabet = {
  plain: characters([1, 0xd7ff], [0xe000, maximum]),
  escapes: new Map(),
  escaped: false,
};

/** Of all patterns together, written out, beyond one for each class: some of Unicode's have hundreds. */
export const maxRanges = 20_000;
export const tooMany = `has, with the patterns before it, more than ${String(maxRanges)} ranges of characters: take smaller classes`;

/**
 * Of what is repeated at once, such as [a-z] in ([a-z]{1,20}){1,20}: every number can come about in many ways. Measured
 * over 200,000 ids, within JSON: 100 take 5 s to compile, 250 half a minute.
 */
const maxRepeated = 100;
const repeatedTwice = `repeats a repetition more than ${String(maxRepeated)} times in all: say in one how often, such as [a-z]{1,400} for ([a-z]{1,20}){1,20}`;

const noText = 'asks for characters that an answer cannot have';

export interface Written {
  readonly text: string;
  readonly ranges: number;
}

/** @throws UnusablePattern saying why */
export function writePattern(pattern: string, alphabet: Alphabet): Written {
  const writer = new Writer(alphabet);
  try {
    const inside = writer.alternatives(parsePattern(pattern).expression.alternatives, {
      start: true,
      end: true,
    });
    return { text: `^${group(inside)}$`, ranges: writer.ranges };
  } catch (error) {
    // Of the stack: a thousand groups within each other.
    if (error instanceof RangeError) throw new UnusablePattern('is nested too deeply: take fewer groups');
    throw error;
  }
}

/** Letters behind a backslash, and braces, that mean something elsewhere and only themselves to JavaScript of old habit. */
const misread = /^(?:\\[^\WdDwWsSbBfnrtvcxu\d_]|\\u\{|\{,)$/;

/**
 * As JSON Schema has it, for Unicode; of old habit with needless backslashes and lone brackets too.
 * @throws UnusablePattern saying why; RangeError: it is nested too deeply
 */
export function parsePattern(source: string): JS.ParseResult {
  const needed = source.replace(/\\([^])/g, (whole, character: string) =>
    /[A-Za-z0-9^$\\.*+?()[\]{}|/\u0080-\uffff]/.test(character)
      ? whole
      : `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  const isMisread = (needed.match(/\\u\{|\\[^]|\{,/g) ?? []).some((each) => misread.test(each));
  let problem = '';
  for (const flags of isMisread ? ['u'] : ['u', '']) {
    try {
      return JS.Parser.fromLiteral({ source: needed, flags }).parse({
        backreferences: 'throw',
        maxNodes: Infinity,
      });
    } catch (error) {
      if (error instanceof RangeError) throw error;
      problem ||= (error as Error).message.split('\n')[0] ?? '';
    }
  }
  throw new UnusablePattern(`cannot be read: ${problem}`);
}

/** Which ends of the text an element stands at. */
interface Place {
  readonly start: boolean;
  readonly end: boolean;
}

const within: Place = { start: false, end: false };

class Writer {
  ranges = 0;
  readonly #alphabet: Alphabet;

  constructor(alphabet: Alphabet) {
    this.#alphabet = alphabet;
  }

  alternatives(all: readonly NoParent<Concatenation>[], place: Place): string {
    // The reader leaves out those with a class of no characters.
    if (all.length === 0) throw new UnusablePattern(noText);
    const written = [...new Set(all.map((each) => this.#concatenation(each, place)))];
    const some = written.filter((each) => each !== '').join('|');
    return written.includes('') && some !== '' ? `(${some})?` : some;
  }

  #concatenation({ elements }: NoParent<Concatenation>, { start, end }: Place): string {
    const isInner = (each: NoParent<Element>): boolean => !isEdge(each);
    const [first, last] = [elements.findIndex(isInner), elements.findLastIndex(isInner)];
    return elements
      .map((each, i) =>
        this.#element(each, { start: start && (first === -1 || i <= first), end: end && i >= last }),
      )
      .join('');
  }

  #element(element: NoParent<Element>, place: Place): string {
    switch (element.type) {
      case 'CharacterClass':
        return this.#characters(element.characters);
      case 'Alternation':
        return group(this.alternatives(element.alternatives, place));
      case 'Quantifier':
        return this.#quantified(element, place);
      case 'Assertion':
        // The whole text must match the pattern anyway.
        if ((place.start && isStart(element)) || (place.end && isEnd(element))) return '';
        throw new UnusablePattern(
          'looks around or has ^ or $ inside, which cannot be enforced: say what the text is from its beginning to its end',
        );
      default:
        throw new UnusablePattern('refers to what it matched before, which cannot be enforced');
    }
  }

  #quantified({ alternatives, min, max }: NoParent<Quantifier>, place: Place): string {
    if (max === 0) return '';
    const inside = maxInside(alternatives);
    if (inside > 1 && max !== Infinity && min !== max && inside * max > maxRepeated)
      throw new UnusablePattern(repeatedTwice);
    const once = this.alternatives(alternatives, min === 1 && max === 1 ? place : within);
    if (once === '' || (min === 1 && max === 1)) return group(once);
    return `(${once})${quantifier(min, max)}`;
  }

  #characters(set: CharSet): string {
    const { escapes, escaped } = this.#alphabet;
    const plain = set.resize(maximum).intersect(this.#alphabet.plain);
    this.ranges += Math.max(0, plain.ranges.length - 1);
    if (this.ranges > maxRanges) throw new UnusablePattern(tooMany);
    const letters =
      escaped || plain.isEmpty
        ? [...escapes].filter(([code]) => set.has(code)).map(([, letter]) => letter)
        : [];
    const ways = [
      ...(plain.isEmpty ? [] : [`[${plain.ranges.map(({ min, max }) => range(min, max)).join('')}]`]),
      ...(letters.length === 0 ? [] : [`\\\\[${letters.map((each) => point(each.charCodeAt(0))).join('')}]`]),
    ];
    if (ways.length === 0) throw new UnusablePattern(noText);
    const written = ways.join('|');
    return ways.length > 1 ? group(written) : written;
  }
}

/** How often the only repetition that groups hold may come, where that is bounded and its number not fixed; else 1. */
function maxInside(alternatives: readonly NoParent<Concatenation>[]): number {
  const [only] = alternatives.length === 1 ? (alternatives[0]?.elements ?? []) : [];
  if (only === undefined || alternatives[0]?.elements.length !== 1) return 1;
  if (only.type === 'Alternation') return maxInside(only.alternatives);
  if (only.type !== 'Quantifier' || only.max === Infinity) return 1;
  return (only.min === only.max ? 1 : only.max) * maxInside(only.alternatives);
}

const isStart = ({ kind, negate }: NoParent<Assertion>): boolean => kind === 'behind' && negate;
const isEnd = ({ kind, negate }: NoParent<Assertion>): boolean => kind === 'ahead' && negate;

/** Whether it is ^ or $: nothing before, or nothing after. */
function isEdge(element: NoParent<Element>): element is NoParent<Assertion> {
  if (element.type !== 'Assertion' || !element.negate) return false;
  const [only] = element.alternatives;
  const [any] = only?.elements ?? [];
  return (
    element.alternatives.length === 1 &&
    only?.elements.length === 1 &&
    any?.type === 'CharacterClass' &&
    any.characters.isAll
  );
}

function quantifier(min: number, max: number): string {
  if (max === Infinity) return min === 0 ? '*' : min === 1 ? '+' : `{${String(min)},}`;
  if (min === 0 && max === 1) return '?';
  return min === max ? `{${String(min)}}` : `{${String(min)},${String(max)}}`;
}

const group = (written: string): string => (written === '' ? '' : `(${written})`);
const range = (min: number, max: number): string =>
  min === max ? point(min) : `${point(min)}-${point(max)}`;

function point(code: number): string {
  const character = String.fromCodePoint(code);
  return /[A-Za-z0-9]/.test(character) ? character : `\\u{${code.toString(16)}}`;
}
