// Labels and annotations of the pods: what the user wants of them, by which Prometheus finds their metrics, and our own.

import { labels, ports, routes } from '@llmservice/crds';
import type { WantedService } from '../../domain/wanted-service.js';
import { childLabels } from '../identity/child-metadata.js';
import { schemeOf } from './container-parts.js';

/** The convention that most Prometheus configurations follow where no PodMonitor does. */
function scrapeAnnotations(service: WantedService): Record<string, string> {
  // A scrape without a key would only be refused.
  if (service.spec.auth.keysSecretRef !== undefined && service.spec.auth.protectMetrics) return {};
  return {
    'prometheus.io/scrape': 'true',
    'prometheus.io/scheme': schemeOf(service),
    'prometheus.io/port': String(ports.http),
    'prometheus.io/path': routes.metrics,
  };
}

/** By which Kueue knows its pods; on their Deployment for its integration of these, which sets the same on pods. */
export function queueLabels({ spec }: Pick<WantedService, 'spec'>): Record<string, string> {
  return spec.queueName === undefined ? {} : { [labels.queue]: spec.queueName };
}

/** @param own annotations of this template */
export function podMetadata(
  service: WantedService,
  own: Readonly<Record<string, string>>,
): { labels: Record<string, string>; annotations: Record<string, string> } {
  const { podLabels, podAnnotations } = service.spec;
  return {
    labels: { ...podLabels, ...queueLabels(service), ...childLabels(service) },
    annotations: { ...scrapeAnnotations(service), ...podAnnotations, ...own },
  };
}
