// When each alert fires and when it stays quiet, as series in promtool's notation (`0+2x60`: from 0 by 2, sixty times), a value
// each minute. The test runs them with `promtool test rules` against the rules as the chart renders them.

export type Series = Readonly<Record<string, string>>;

export interface AlertCase {
  readonly alert: string;
  /** A value each so many minutes, where not each. */
  readonly stepMinutes?: number;
  /** Minutes after which the alert fires, or does not. */
  readonly after: number;
  /** Labels that it fires with, beside its severity. */
  readonly labels: Readonly<Record<string, string>>;
  readonly fires: Series;
  /** What is near, by name. */
  readonly quiet: Readonly<Record<string, Series>>;
}

/** A service, as labels of an alert and within a selector; and its pod. */
export const team = { namespace: 'team', service: 'chat' };
export const ofTeam = 'namespace="team",service="chat"';
export const prefillPod = 'job="llm-service",namespace="team",prefill_of="chat",pod="chat-prefill-1"';
export const pod = `job="llm-service",${ofTeam},pod="chat-1"`;
