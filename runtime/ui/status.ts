// What the server is doing, looked at once a second.

import { element, make } from './elements.js';
import { KeyWanted, readStatus, useKey, type Status } from './server.js';

const everyMs = 1000;

interface Sample {
  readonly at: number;
  readonly tokens: number;
}

export async function showStatus(): Promise<never> {
  let last: Sample | null = null;
  for (;;) {
    try {
      last = show(await readStatus(), last);
    } catch (error) {
      last = null;
      element('state', HTMLElement).textContent = error instanceof KeyWanted ? 'locked' : 'out of reach';
      tell((error as Error).message);
      // Without one each look would be refused, counted and logged.
      if (error instanceof KeyWanted) {
        await askForKey();
        continue;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
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
  element('model', HTMLElement).textContent = model;
  element('state', HTMLElement).textContent = state;
  tell(failure === null ? null : `${failure.reason}: ${failure.message}`);
  showLoad(load);
  showErrors(status.errors);
  const now = { at: performance.now(), tokens: engine?.generatedTokens ?? 0 };
  // A new engine counts from nothing.
  const seconds = last === null || now.tokens < last.tokens ? 0 : (now.at - last.at) / 1000;
  const rate = seconds === 0 ? null : (now.tokens - (last?.tokens ?? 0)) / seconds;
  figure('rate', rate === null ? null : rate.toFixed(rate < 10 ? 1 : 0));
  figure('running', engine?.running);
  figure('waiting', engine?.waiting);
  figure('kv', engine === null ? null : `${((100 * engine.blocksUsed) / engine.blocksTotal).toFixed(0)} %`);
  return now;
}

const figure = (id: string, value: number | string | null | undefined): void => {
  element(id, HTMLElement).textContent = value == null ? '–' : String(value);
};

/** @param problem null: there is none */
function tell(problem: string | null): void {
  const place = element('problem', HTMLElement);
  // Said again and again, it would be read out again and again.
  if (place.textContent !== (problem ?? '')) place.textContent = problem ?? '';
  place.hidden = problem === null;
}

function showLoad(load: Status['load']): void {
  element('load', HTMLElement).hidden = load === null;
  if (load === null) return;
  const { phase, bytesDone, bytesTotal, etaSeconds } = load;
  const progress = element('load-progress', HTMLProgressElement);
  progress.max = Math.max(1, bytesTotal);
  progress.value = bytesDone;
  const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(2);
  const left = etaSeconds === null ? '' : `, about ${String(Math.ceil(etaSeconds))} s left`;
  element('load-label', HTMLElement).textContent =
    `${phase}: ${gigabytes(bytesDone)} of ${gigabytes(bytesTotal)} GB${left}`;
}

function showErrors(errors: Status['errors']): void {
  element('error-count', HTMLElement).textContent = errors.length === 0 ? 'none' : String(errors.length);
  element('error-list', HTMLElement).replaceChildren(
    ...errors.map(({ at, route, code }) =>
      make('li', 'failed', `${new Date(at).toLocaleTimeString()} ${route ?? 'unknown route'}: ${code}`),
    ),
  );
}
