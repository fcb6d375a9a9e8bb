// Names that rules and dashboards share: which targets they read, and what the chart fills in when it renders them.

/** Jobs, as the chart's PodMonitors name them: the label app.kubernetes.io/name of the pods. */
export const jobs = {
  services: 'job="llm-service"',
  /** Of these, those that answer requests: no prefill pods. */
  answering: 'job="llm-service",prefill_of=""',
  operator: 'job="llmservice-operator"',
  activator: 'job="llmservice-activator"',
  routers: 'job="llmservice-router"',
} as const;

/** The chart replaces each by a value of its `monitoring`. */
export const filledIn = {
  runbooks: '__RUNBOOKS__',
  /** Share of requests that may fail, and share of first tokens that may be late. */
  failedBudget: '__FAILED_BUDGET__',
  lateBudget: '__LATE_BUDGET__',
  /** A bucket of the histogram. */
  firstTokenSeconds: '__FIRST_TOKEN_SECONDS__',
  /** Of the release. */
  namespace: '__NAMESPACE__',
} as const;

/** Windows of the recorded ratios, the shortest first. */
export const windows = ['5m', '30m', '1h', '2h', '6h', '1d', '3d'] as const;
export type Window = (typeof windows)[number];

/** Recorded by namespace and service. */
export const failedRatio = (window: Window): string => `llmservice:failed_requests:ratio_rate${window}`;
export const lateRatio = (window: Window): string => `llmservice:late_first_tokens:ratio_rate${window}`;
