// Rules as Prometheus reads them.

import { filledIn } from '../series.js';

export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
}

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: { readonly severity: Severity };
  readonly annotations: Readonly<Record<'summary' | 'description' | 'runbook_url', string>>;
}

export interface RuleGroup {
  readonly name: string;
  readonly rules: readonly (RecordingRule | AlertRule)[];
}

/** critical: somebody is called; warning: somebody reads it in working hours. */
type Severity = 'critical' | 'warning';

interface Alert {
  readonly severity: Severity;
  /** How long the expression has to hold. */
  readonly for: string;
  readonly expr: string;
  readonly summary: string;
  readonly description: string;
}

/** An alert whose runbook is the heading of its name in deploy/docs/on-call.md. */
export function alert(name: string, { severity, expr, summary, description, for: holds }: Alert): AlertRule {
  return {
    alert: name,
    expr,
    for: holds,
    labels: { severity },
    annotations: { summary, description, runbook_url: `${filledIn.runbooks}#${name.toLowerCase()}` },
  };
}

/** As summaries name it; what is wrong with prefill pods has the name of their service in a label of its own. */
export const theService = 'LlmService {{ $labels.namespace }}/{{ $labels.service }}{{ $labels.prefill_of }}';
