// The form of a case that another server's tests hold: what is sent, what must come here, and whether that is what they
// ask for. Cases are data; `ask-case.ts` sends them.

export type Suite = 'llama.cpp' | 'vLLM';

export interface SentRequest {
  readonly method: 'GET' | 'POST' | 'OPTIONS';
  readonly path: string;
  /** A text is sent as it is; undefined: nothing is. */
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Of an answer: its members, and `text`. Of a stream: `events`, `first`, `last`, `text`, and how many events say why it `ended`. */
export type View = Readonly<Record<string, unknown>>;

export type Check = (value: unknown) => boolean;

export interface Expected {
  readonly status: number;
  /** By path: the value itself, or what must hold of it. */
  readonly has: Readonly<Record<string, unknown>>;
}

export interface SuiteCase {
  readonly suite: Suite;
  /** In the suite, without `test_` and `.py`. */
  readonly file: string;
  readonly what: string;
  /** One after the other; a later one may be made of the answers before it. */
  readonly requests: readonly (SentRequest | ((answers: readonly View[]) => SentRequest))[];
  /** Of the last answer. */
  readonly expected: Expected;
  /** Paths whose values all answers have in common, or each of its own. */
  readonly alike?: readonly string[];
  readonly unlike?: readonly string[];
  /** Null: the suite asks for the same. */
  readonly difference: Difference | null;
}

export interface Difference {
  /** What the suite asks for. */
  readonly theirs: string;
  /** Why it is otherwise here, or what to send instead. */
  readonly why: string;
}

interface Both {
  readonly alike?: readonly string[];
  readonly unlike?: readonly string[];
}

type Requests = SentRequest | SuiteCase['requests'];

const requestsOf = (requests: Requests): SuiteCase['requests'] =>
  'path' in requests ? [requests] : requests;

/** Makers of the cases of one file of a suite. */
export const casesOf = (suite: Suite, file: string) => ({
  same: (what: string, requests: Requests, expected: Expected, both: Both = {}): SuiteCase => ({
    suite,
    file,
    what,
    requests: requestsOf(requests),
    expected,
    ...both,
    difference: null,
  }),
  differs: (
    what: string,
    request: SentRequest,
    expected: Expected,
    theirs: string,
    why: string,
  ): SuiteCase => ({
    suite,
    file,
    what,
    requests: [request],
    expected,
    difference: { theirs, why },
  }),
});

export const get = (path: string): SentRequest => ({ method: 'GET', path });
export const post = (path: string, body: object | string): SentRequest => ({ method: 'POST', path, body });

export const ok = (has: Expected['has'] = {}): Expected => ({ status: 200, has });
/** @param said what the message must contain beside the name of the field */
export const refused = (param: string | null, said = param ?? ''): Expected => ({
  status: 400,
  has: { 'error.param': param, 'error.message': contains(said) },
});
export const absent = (said: string): Expected => ({ status: 404, has: { 'error.message': contains(said) } });

export const text: Check = (value) => typeof value === 'string' && value.length > 0;
export const count: Check = (value) => Number.isInteger(value) && Number(value) > 0;
export const missing: Check = (value) => value === undefined;
export const ids: Check = (value) =>
  Array.isArray(value) && value.length > 0 && value.every(Number.isInteger);
export const contains =
  (part: string): Check =>
  (value) =>
    typeof value === 'string' && value.includes(part);
export const matches =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value);
export const long =
  (length: number): Check =>
  (value) =>
    Array.isArray(value) && value.length === length;
/** JSON that has these members. */
export const jsonWith =
  (...names: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && names.every((name) => Object.hasOwn(JSON.parse(value) as object, name));
