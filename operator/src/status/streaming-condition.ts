// StreamingVerified: whether events come through the public route as they are sent. It gates nothing: a route that
// keeps answers back still answers.

import { no, unknown, yes, type Answer } from './answer.js';
import type { Observed } from './observed.js';

export function judgeStreaming(observed: Observed): Answer {
  const { streaming, previous } = observed;
  if (streaming.state === 'noRoute') return unknown('NotRouted', 'There is no public route to check.');
  if (streaming.state === 'unpaced') {
    return unknown('NotChecked', 'vLLM has no events of a known pace. Stream an answer through the gateway.');
  }
  const { outcome, route } = streaming;
  if (outcome?.state === 'streams') {
    const { minGapMs, maxGapMs } = outcome;
    return yes(
      'Streams',
      `Events that are sent 200 ms apart come ${String(minGapMs)} to ${String(maxGapMs)} ms apart.`,
    );
  }
  const before = previous.conditions?.find(({ type }) => type === 'StreamingVerified');
  const isKnown = previous.streamCheck?.route === route && before !== undefined;
  // Another look that finds the same leaves its figures, and one that sees nothing what was seen before.
  const stays = { none: true, buffered: before?.status === 'False', failed: before?.status !== 'Unknown' };
  if (isKnown && stays[outcome?.state ?? 'none']) return before;
  if (outcome?.state === 'buffered') return no('Buffered', buffered(outcome.heldMs));
  if (outcome?.state === 'failed')
    return unknown('NotReached', `The route cannot be checked. ${outcome.message}`);
  return unknown('NotChecked', 'It is checked once the gateway has taken the route and a pod answers.');
}

function buffered(heldMs: number): string {
  return (
    'Something between the clients and the pods keeps events back: some of those sent over 800 ms are held for ' +
    `${String(heldMs)} ms. Have answers of this host passed on as they come: a filter of Envoy or istio that takes ` +
    'whole bodies (ext_proc, Lua), proxy_buffering of nginx, a cache that stores first. It is checked every 10 minutes.'
  );
}
