// What the server is doing, polled once a second while somebody views the page.

import { element, make, say } from './elements.js';
import { KeyWanted, readStatus, useKey, type Status } from './server.js';

const everyMs = 1000;

interface Sample {
  readonly at: number;
  readonly tokens: number;
}

export async function showStatus(): Promise<never> {
  let last: Sample | null = null;
  for (;;) {
    if (document.hidden) {
      await untilSeen();
      last = null;
    }
    try {
      last = show(await readStatus(), last);
    } catch (error) {
      last = null;
      say('state', error instanceof KeyWanted ? 'locked' : 'out of reach');
      showProblem((error as Error).message);
      showEngine(null, null);
      // Without one each look would be refused, counted and logged.
      if (error instanceof KeyWanted) {
        await askForKey();
        continue;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

async function untilSeen(): Promise<void> {
  while (document.hidden)
    await new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }));
}

function askForKey(): Promise<void> {
  const form = element('key-form', HTMLFormElement);
  form.hidden = false;
  return new Promise((resolve) => {
    const taken = (event: Event): void => {
      event.preventDefault();
      useKey(element('key', HTMLInputElement).value);
      form.reset();
      form.hidden = true;
      resolve();
    };
    form.addEventListener('submit', taken, { once: true });
  });
}

function show(status: Status, last: Sample | null): Sample {
  const { model, state, engine, failure, load } = status;
  document.title = `${model}: ${state}`;
  say('model', model);
  say('state', state);
  showProblem(failure === null ? null : `${failure.reason}: ${failure.message}`);
  showLoad(load);
  showErrors(status.errors);
  const now = { at: performance.now(), tokens: engine?.generatedTokens ?? 0 };
  // A new engine counts from nothing.
  const seconds = last === null || now.tokens < last.tokens ? 0 : (now.at - last.at) / 1000;
  showEngine(engine, seconds === 0 ? null : (now.tokens - (last?.tokens ?? 0)) / seconds);
  return now;
}

/** @param rate tokens a second; null: not known, as where there is no engine */
function showEngine(engine: Status['engine'], rate: number | null): void {
  figure('rate', rate === null ? null : rate.toFixed(rate < 10 ? 1 : 0));
  figure('running', engine?.running);
  figure('waiting', engine?.waiting);
  figure('kv', engine === null ? null : `${((100 * engine.blocksUsed) / engine.blocksTotal).toFixed(0)} %`);
}

const figure = (id: string, value: number | string | null | undefined): void =>
  say(id, value == null ? '–' : String(value));

/** @param problem null: there is none */
function showProblem(problem: string | null): void {
  say('problem', problem ?? '');
  element('problem', HTMLElement).hidden = problem === null;
}

function showLoad(load: Status['load']): void {
  element('load', HTMLElement).hidden = load === null;
  if (load === null) return;
  const { phase, bytesDone, bytesTotal, etaSeconds, warmup } = load;
  if (phase === 'warmup' && warmup !== null) {
    const { done, total } = warmup;
    showProgress(done, total, `warm-up: ${String(done)} of ${String(total)} shapes`);
    return;
  }
  const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(2);
  const left = etaSeconds === null ? '' : `, about ${String(Math.ceil(etaSeconds))} s left`;
  showProgress(
    bytesDone,
    bytesTotal,
    `${phase}: ${gigabytes(bytesDone)} of ${gigabytes(bytesTotal)} GB${left}`,
  );
}

function showProgress(done: number, total: number, label: string): void {
  const progress = element('load-progress', HTMLProgressElement);
  progress.max = Math.max(1, total);
  progress.value = done;
  say('load-label', label);
}

function showErrors(errors: Status['errors']): void {
  say('error-count', errors.length === 0 ? 'none' : String(errors.length));
  const list = element('error-list', HTMLElement);
  const lines = errors.map(
    ({ at, route, code }) => `${new Date(at).toLocaleString()} ${route ?? 'unknown route'}: ${code}`,
  );
  const shown = Array.from(list.children, ({ textContent }) => textContent);
  if (lines.join('\n') !== shown.join('\n'))
    list.replaceChildren(...lines.map((line) => make('li', 'failed', line)));
}
