// AdaptersLoaded: whether every pod that answers serves every adapter of the spec. Asked only of services that have adapters. It
// gates nothing: the model, and the adapters that are there, are served all the same.

import { adapterListDigest, adapterListText, isStoreAway } from '@llmservice/crds';
import type { RefusedAdapter } from '../domain/checkpoint.js';
import { no, unknown, yes, type Answer } from './answer.js';
import type { Observed } from './observed.js';
import { isReady } from './pod-state.js';

type Asked = Pick<Observed, 'adapters' | 'refusedAdapters' | 'adapterReports' | 'pods'>;

/** More would say nothing else. */
const maxNamed = 8;

export function adaptersLoaded(observed: Asked): Answer | null {
  const { adapters, refusedAdapters } = observed;
  if (refusedAdapters.length > 0) return refusal(observed);
  return adapters.length === 0 ? null : loadedOf(observed);
}

/** By the fields that name them. */
export function refusalText(refused: readonly RefusedAdapter[]): string {
  const named = refused
    .slice(0, maxNamed)
    .map(({ at, uri, failure }) => `spec.adapters[${String(at)}].uri ${uri}: ${failure.message}`);
  const others = refused.length - named.length;
  return [...named, ...(others === 0 ? [] : [`${String(others)} more are not served either`])].join('; ');
}

function refusal(observed: Asked): Answer {
  const { adapters, refusedAdapters } = observed;
  const isAway = refusedAdapters.every(({ failure }) => isStoreAway(failure.reason));
  const text = refusalText(refusedAdapters);
  const kept = 'What pods have under these names stays; neither the model nor other adapters wait for it';
  const others = adapters.length === 0 ? '' : ` Of the others: ${loadedOf(observed).message}`;
  return no(isAway ? 'AdapterUnavailable' : 'AdapterRefused', `${text}. ${kept}.${others}`);
}

function loadedOf({ adapters, adapterReports, pods }: Asked): Answer {
  const names = (places: readonly number[]): string =>
    places.map((at) => adapters[at]?.name ?? String(at)).join(', ');
  const ready = pods.filter(isReady).map(({ metadata }) => metadata.name);
  if (ready.length === 0) return unknown('NoReadyPod', 'No pod answers.');
  const list = adapterListDigest(adapterListText(adapters));
  const reports = ready.map((pod) => ({ pod, report: adapterReports.get(pod) }));
  const failing = reports.filter(({ report }) => report?.list === list && report.failed.length > 0);
  if (failing.length > 0) {
    const what = failing.map(({ pod, report }) => `pod ${pod} has not loaded ${names(report?.failed ?? [])}`);
    return no('AdapterFailed', `${what.join('; ')}. Its log says why; it is tried again.`);
  }
  const loading = reports.filter(
    ({ report }) => report?.list !== list || report.loaded.length < adapters.length,
  );
  if (loading.length > 0) {
    const late = loading.map(({ pod }) => pod).join(', ');
    return no('Loading', `Of the list of adapters, some are still to be loaded by: ${late}.`);
  }
  const all = names([...adapters.keys()]);
  return yes('Loaded', `All pods that answer (${String(ready.length)}) serve ${all}.`);
}
