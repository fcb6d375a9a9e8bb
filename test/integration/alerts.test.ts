// The alert rules as the chart renders them: promtool of Debian's Prometheus checks them, and runs for each alert what it fires
// on and what is near and leaves it quiet. Each links to a heading of on-call.md that is there.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import type { AlertCase, Series } from '../../deploy/monitoring/rules/alert-case.js';
import { alertCases } from '../../deploy/monitoring/rules/alert-cases.js';
import { run } from '../processes.js';
import { renderedRules, type RenderedRule } from './rendered-monitoring.js';

const folder = mkdtempSync(join(tmpdir(), 'llmservice-alerts-'));
const rulesFile = join(folder, 'rules.yaml');
let alerts: readonly RenderedRule[];

beforeAll(async () => {
  const groups = await renderedRules();
  writeFileSync(rulesFile, stringify({ groups }));
  alerts = groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert !== undefined);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const severityOf = (name: string): string | undefined =>
  alerts.find(({ alert }) => alert === name)?.labels?.['severity'];

interface PromtoolTest {
  readonly name: string;
  readonly input_series: readonly { readonly series: string; readonly values: string }[];
  readonly promql_expr_test: readonly object[];
}

function promtoolTest(name: string, series: Series, each: AlertCase, fires: boolean): PromtoolTest {
  const firing = `ALERTS{alertname="${each.alert}",alertstate="firing"}`;
  const all = { ...each.labels, severity: severityOf(each.alert) ?? 'none' };
  const labels = Object.entries(all).map(([label, value]) => `${label}="${value}"`);
  const expected = `ALERTS{alertname="${each.alert}",alertstate="firing",${labels.join(',')}}`;
  return {
    name: `${each.alert}: ${name}`,
    input_series: Object.entries(series).map(([of, values]) => ({ series: of, values })),
    promql_expr_test: [
      {
        expr: firing,
        eval_time: `${String(each.after)}m`,
        exp_samples: fires ? [{ labels: expected, value: 1 }] : [],
      },
    ],
  };
}

const promtool = async (tests: readonly PromtoolTest[], stepMinutes = 1) => {
  const file = join(folder, `test-${String(stepMinutes)}.yaml`);
  const interval = `${String(stepMinutes)}m`;
  const stepped = tests.map((each) => ({ ...each, interval }));
  writeFileSync(file, stringify({ rule_files: [rulesFile], evaluation_interval: interval, tests: stepped }));
  return run('promtool', ['test', 'rules', file]);
};

test('promtool takes the rules', async () => {
  const { code, stdout, stderr } = await run('promtool', ['check', 'rules', '--lint-fatal', rulesFile]);
  expect([code, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
});

test.each([...new Set(alertCases.map(({ stepMinutes = 1 }) => stepMinutes))])(
  'every alert fires on what it is for and on nothing near: those of steps of %d min',
  async (stepMinutes) => {
    const tests = alertCases
      .filter((each) => (each.stepMinutes ?? 1) === stepMinutes)
      .flatMap((each) => [
        promtoolTest('fires', each.fires, each, true),
        ...Object.entries(each.quiet).map(([name, series]) =>
          promtoolTest(`quiet: ${name}`, series, each, false),
        ),
      ]);
    const { code, stdout, stderr } = await promtool(tests, stepMinutes);
    expect([code, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
  },
);

test('there is a case of each', () => {
  expect(new Set(alertCases.map(({ alert }) => alert))).toEqual(new Set(alerts.map(({ alert }) => alert)));
});

test('a case whose alert does not fire is seen', async () => {
  const [any] = alertCases;
  const { code, stdout, stderr } = await promtool([promtoolTest('silent', {}, any!, true)]);
  expect([code, stdout + stderr]).toEqual([1, expect.stringContaining('FAILED')]);
});

describe('runbooks', () => {
  const page = readFileSync('deploy/docs/on-call.md', 'utf8');
  /** As GitHub makes them of headings. */
  const anchors = [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );

  test('are headings of the page on call, one for each alert', () => {
    const links = alerts.map(({ annotations }) => annotations?.['runbook_url'] ?? '');
    const [base] = links[0]!.split('#');
    expect(base).toMatch(/\/deploy\/docs\/on-call\.md$/);
    expect(links.filter((link) => !anchors.some((anchor) => link === `${base!}#${anchor}`))).toEqual([]);
    expect(new Set(links).size).toBe(alerts.length);
  });

  test('no heading is of an alert that is gone', () => {
    const headings = anchors.filter((anchor) =>
      /^llm(service|gateway|operator|activator)[a-z]+$/.test(anchor),
    );
    expect(headings.toSorted()).toEqual(alerts.map(({ alert }) => alert!.toLowerCase()).toSorted());
  });
});
