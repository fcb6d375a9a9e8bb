// A regular expression of a schema, over a text, as one over the characters that JSON writes for that text: the compiler
// of schemas puts it between the quotes as it is, so that what is no "a" may end the text, or be no JSON at all.

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

/** Characters that JSON writes with a backslash, and what it writes then. */
const escapes: ReadonlyMap<number, string> = new Map(
  Object.entries({ '"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't' }).map(
    ([character, letter]) => [character.charCodeAt(0), letter],
  ),
);
const maximum = 0x10ffff;
const asTheyAre = CharSet.empty(maximum).union([
  { min: 0x20, max: 0x21 },
  { min: 0x23, max: 0x5b },
  { min: 0x5d, max: 0xd7ff },
  { min: 0xe000, max: maximum },
]);

/** Of all patterns of a schema together, written out: some classes of Unicode have hundreds. */
const mostRanges = 20_000;
const tooMany = `has, with the patterns before it, more than ${String(mostRanges)} ranges of characters: take smaller classes`;

interface Written {
  readonly text: string;
  readonly ranges: number;
}

/** The patterns of one schema; each is written once, however often it is asked for. */
export class JsonPatterns {
  readonly #escaped: boolean;
  readonly #written = new Map<string, Written>();
  #ranges = 0;

  /** @param escaped whether a text may have characters that JSON writes with a backslash where others would do */
  constructor({ escaped }: { readonly escaped: boolean }) {
    this.#escaped = escaped;
  }

  /** For each place of the schema where the pattern stands. @throws UnusablePattern saying why */
  check(pattern: string): void {
    if (this.#ranges <= mostRanges) this.#ranges += this.#write(pattern).ranges;
    if (this.#ranges > mostRanges) throw new UnusablePattern(tooMany);
  }

  /**
   * The pattern, of which the whole text is to be an instance, from the first character to the last.
   * @throws UnusablePattern saying why
   */
  inJson(pattern: string): string {
    return this.#write(pattern).text;
  }

  #write(pattern: string): Written {
    const known = this.#written.get(pattern);
    if (known !== undefined) return known;
    const writer = new Writer(this.#escaped);
    const inside = writer.alternatives(parse(pattern), { start: true, end: true });
    const written = { text: `^(${inside})$`, ranges: writer.ranges };
    this.#written.set(pattern, written);
    return written;
  }
}

/** As JSON Schema has it, for Unicode; of old habit with needless backslashes too. */
function parse(source: string): readonly NoParent<Concatenation>[] {
  let problem = '';
  for (const flags of ['u', '']) {
    try {
      const { expression } = JS.Parser.fromLiteral({ source, flags }).parse({
        backreferences: 'throw',
        maxNodes: 10_000,
      });
      return expression.alternatives;
    } catch (error) {
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

const inside: Place = { start: false, end: false };

class Writer {
  ranges = 0;
  readonly #escaped: boolean;

  constructor(escaped: boolean) {
    this.#escaped = escaped;
  }

  alternatives(all: readonly NoParent<Concatenation>[], place: Place): string {
    const written = [...new Set(all.map((each) => this.#concatenation(each, place)))];
    const some = written.filter((each) => each !== '').join('|');
    return written.includes('') && some !== '' ? `(${some})?` : some;
  }

  #concatenation({ elements }: NoParent<Concatenation>, { start, end }: Place): string {
    const isInner = (each: NoParent<Element>): boolean => !isEdge(each);
    return elements
      .map((each, i) =>
        this.#element(each, {
          start: start && !elements.slice(0, i).some(isInner),
          end: end && !elements.slice(i + 1).some(isInner),
        }),
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
        // The whole text is held to the pattern anyway.
        if ((place.start && isStart(element)) || (place.end && isEnd(element))) return '';
        throw new UnusablePattern(
          'looks around or has ^ or $ inside, which an answer cannot be held to: say what the text is from its beginning to its end',
        );
      default:
        throw new UnusablePattern('refers to what it matched before, which an answer cannot be held to');
    }
  }

  #quantified({ alternatives, min, max }: NoParent<Quantifier>, place: Place): string {
    if (max === 0) return '';
    const once = this.alternatives(alternatives, min === 1 && max === 1 ? place : inside);
    if (once === '' || (min === 1 && max === 1)) return group(once);
    return `(${once})${quantifier(min, max)}`;
  }

  #characters(set: CharSet): string {
    const plain = set.resize(maximum).intersect(asTheyAre);
    this.ranges += plain.ranges.length;
    if (this.ranges > mostRanges) throw new UnusablePattern(tooMany);
    const letters =
      this.#escaped || plain.isEmpty
        ? [...escapes].filter(([code]) => set.has(code)).map(([, letter]) => letter)
        : [];
    const ways = [
      ...(plain.isEmpty ? [] : [`[${plain.ranges.map(({ min, max }) => range(min, max)).join('')}]`]),
      ...(letters.length === 0 ? [] : [`\\\\[${letters.map((each) => point(each.charCodeAt(0))).join('')}]`]),
    ];
    if (ways.length === 0) throw new UnusablePattern('asks for characters that an answer cannot have');
    const written = ways.join('|');
    return ways.length > 1 ? group(written) : written;
  }
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
