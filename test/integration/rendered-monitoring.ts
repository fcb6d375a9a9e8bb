// What the operator's chart renders for Prometheus and Grafana.

import { parseAllDocuments } from 'yaml';
import { Helm } from './helm.js';

export interface RenderedRule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface RenderedGroup {
  readonly name: string;
  readonly rules: readonly RenderedRule[];
}

export interface RenderedObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: { readonly groups?: readonly RenderedGroup[] };
  readonly data?: Readonly<Record<string, string>>;
}

export async function renderedObjects(...args: string[]): Promise<RenderedObject[]> {
  const helm = new Helm();
  try {
    const chosen = ['--namespace', 'llmservice-system', '--set', 'monitoring.enabled=true', ...args];
    return parseAllDocuments(await helm.template('llmservice-operator', ...chosen))
      .map((document) => document.toJS() as RenderedObject | null)
      .filter((each) => each !== null);
  } finally {
    helm.remove();
  }
}

export async function renderedRules(): Promise<readonly RenderedGroup[]> {
  const objects = await renderedObjects();
  return objects.find(({ kind }) => kind === 'PrometheusRule')?.spec?.groups ?? [];
}
