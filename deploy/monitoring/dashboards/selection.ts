// Which series the dashboards read: those of the pods of chosen services, over Grafana's interval.

import { jobs } from '../series.js';

/** Of pods that answer requests. */
export const chosen = `${jobs.answering},namespace=~"$namespace",service=~"$service"`;
/** Of those that compute prompts for them. */
export const prefillChosen = `${jobs.services},namespace=~"$namespace",service="",prefill_of=~"$service"`;
/** What the operator reports of services. */
export const reported = 'namespace=~"$namespace",service=~"$service"';

export const serviceVariables = {
  namespace: 'label_values(llmservice_service_ready, namespace)',
  service: 'label_values(llmservice_service_ready{namespace=~"$namespace"}, service)',
};

/** @param labels of the selector, and what they are summed by */
export function rate(series: string, labels: string, ...by: string[]): string {
  const summed = by.length === 0 ? 'sum' : `sum by (${by.join(', ')})`;
  return `${summed}(rate(${series}{${labels}}[$__rate_interval]))`;
}

export function quantile(share: number, histogram: string, labels: string, ...by: string[]): string {
  return `histogram_quantile(${share}, ${rate(`${histogram}_bucket`, labels, 'le', ...by)})`;
}

export function mean(histogram: string, labels: string, ...by: string[]): string {
  return `${rate(`${histogram}_sum`, labels, ...by)} / ${rate(`${histogram}_count`, labels, ...by)}`;
}
