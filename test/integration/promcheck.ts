// Prometheus's own parser, storage, query engine and linter over pages that a test scraped (deploy/local/tools/promcheck).

import { join } from 'node:path';
import { run, toolFolders } from '../processes.js';

export interface Scrape {
  readonly atMs: number;
  readonly text: string;
  /** Labels of the target. */
  readonly target: Readonly<Record<string, string>>;
}

export interface QueryResult {
  readonly samples: readonly {
    readonly labels: Readonly<Record<string, string>>;
    /** Null: not a number. */
    readonly value: number | null;
  }[];
  /** Names of the series that the query selects. */
  readonly selects: readonly string[];
  readonly error?: string;
}

export interface PrometheusAnswer {
  /** In the order of the queries. */
  readonly results: readonly QueryResult[];
  /** What the linter says of the last scrape. */
  readonly problems: readonly { readonly metric: string; readonly text: string }[];
}

interface Asked {
  readonly scrapes: readonly Scrape[];
  /** Recorded at the time of the last scrape, at which the queries are evaluated. */
  readonly rules?: readonly { readonly record: string; readonly expr: string }[];
  readonly queries: readonly string[];
}

export async function askPrometheus(asked: Asked): Promise<PrometheusAnswer> {
  const [programs = ''] = toolFolders('promcheck');
  const result = await run(join(programs, 'promcheck'), [], JSON.stringify(asked));
  if (result.code !== 0) throw new Error(result.stderr);
  return JSON.parse(result.stdout) as PrometheusAnswer;
}

/** Names of the series of a page's metrics, those of labels that have no value yet among them. */
export function seriesOf(page: string): string[] {
  return [...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
}
