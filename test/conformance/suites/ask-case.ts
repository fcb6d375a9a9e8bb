// Sends the requests of a case, and says in what the answers are not as they must be.

import type { Check, SentRequest, SuiteCase, View } from './suite-case.js';

interface Answer {
  readonly status: number;
  readonly view: View;
}

/** @returns empty: all is as it must be */
export async function faultsOf(each: SuiteCase, url: string): Promise<readonly string[]> {
  const answers: Answer[] = [];
  for (const request of each.requests) {
    const made = typeof request === 'function' ? request(answers.map(({ view }) => view)) : request;
    answers.push(await ask(url, made));
  }
  const { status, view } = answers.at(-1)!;
  const { expected, alike = [], unlike = [] } = each;
  const faults: string[] = [];
  if (status !== expected.status) faults.push(`status ${String(status)}: ${JSON.stringify(view)}`);
  for (const [path, wanted] of Object.entries(expected.has)) {
    const value = at(view, path);
    if (!holds(value, wanted)) faults.push(`${path} is ${JSON.stringify(value)}`);
  }
  for (const [paths, sizes] of [
    [alike, 1],
    [unlike, answers.length],
  ] as const)
    for (const path of paths) {
      const values = answers.map((answer) => JSON.stringify(at(answer.view, path)));
      if (new Set(values).size !== sizes) faults.push(`${path} is ${values.join(', and ')}`);
    }
  return faults;
}

async function ask(url: string, { method, path, body, headers = {} }: SentRequest): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: body === undefined || typeof body === 'string' ? (body ?? null) : JSON.stringify(body),
  });
  const answer = await response.text();
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  return { status: response.status, view: isStream ? streamView(answer) : wholeView(answer) };
}

function wholeView(answer: string): View {
  const body: unknown = answer.startsWith('{') || answer.startsWith('[') ? JSON.parse(answer) : answer;
  if (Array.isArray(body)) return { list: body };
  if (typeof body === 'string') return { page: body };
  const view = body as View;
  // Responses repeat the `text` that was asked for.
  return { ...view, text: wholeTextPaths.map((path) => at(view, path)).find((each) => each !== undefined) };
}

const wholeTextPaths = [
  'choices.0.message.content',
  'choices.0.text',
  'output.0.content.0.text',
  'content.0.text',
];
const pieceTextPaths = ['choices.0.delta.content', 'choices.0.text', 'delta.text'];

function streamView(answer: string): View {
  const lines = answer.split('\n').filter((line) => line.startsWith('data: {'));
  const events = lines.map((line) => JSON.parse(line.slice('data: '.length)) as View);
  const pieceOf = (event: View): string => {
    const piece =
      event['type'] === 'response.output_text.delta'
        ? event['delta']
        : pieceTextPaths.map((path) => at(event, path)).find((each) => typeof each === 'string');
    return typeof piece === 'string' ? piece : '';
  };
  return {
    events,
    first: events[0],
    last: events.at(-1),
    types: [...new Set(events.map(({ type }) => type))],
    text: events.map((event) => pieceOf(event)).join(''),
    ended: events.filter((event) => typeof at(event, 'choices.0.finish_reason') === 'string').length,
    done: answer.trimEnd().endsWith('data: [DONE]'),
  };
}

function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (within, name) => (typeof within === 'object' && within !== null ? (within as View)[name] : undefined),
      value,
    );
}

const holds = (value: unknown, wanted: unknown): boolean =>
  typeof wanted === 'function' ? (wanted as Check)(value) : JSON.stringify(value) === JSON.stringify(wanted);
