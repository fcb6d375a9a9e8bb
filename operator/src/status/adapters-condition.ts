// AdaptersLoaded: whether every pod that answers serves every adapter of the list. Asked only of services that have adapters. It
// gates nothing: the model, and the adapters that are there, are served all the same.

import { adapterListDigest, adapterListText } from '@llmservice/crds';
import { no, unknown, yes, type Answer } from './answer.js';
import type { Observed } from './observed.js';
import { isReady } from './pod-state.js';

export function adaptersLoaded({ adapters, adapterReports, pods }: Observed): Answer | null {
  if (adapters.length === 0) return null;
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
