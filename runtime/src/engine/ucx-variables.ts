// For UCX, by which engines reach other nodes and other engines: it leaves signals, memory calls and the log of the process
// alone, and an engine that is started again listens where the one before did.

import { kvTransferPorts, ports } from '@llmservice/crds';
import type { EngineSettings } from './protocol.js';

/** Ports after the first node's, for what nodes exchange: two for each network device, which UCX takes at random. */
const exchangePorts = 15;

export const ucxDefaults = {
  UCX_HANDLE_ERRORS: 'none',
  UCX_MEM_EVENTS: 'n',
  UCX_LOG_LEVEL: 'fatal',
  UCX_TCP_CM_REUSEADDR: 'y',
} as const;

/** Empty: this engine reaches nobody. */
export function ucxVariables({
  nodes,
  disaggregation,
  tensor,
}: Pick<EngineSettings, 'nodes' | 'disaggregation' | 'tensor'>): Record<string, string> {
  const range = (first: number, last: number): Record<string, string> => ({
    ...ucxDefaults,
    UCX_TCP_PORT_RANGE: `${String(first)}-${String(last)}`,
  });
  if (nodes !== null) return range(nodes.port + 1, nodes.port + exchangePorts);
  if (disaggregation === null) return {};
  // Whoever is called by UCX calls back, to a port of these.
  const first = disaggregation.role === 'prefill' ? disaggregation.transferPort : ports.kvTransfer;
  return range(first + tensor, first + kvTransferPorts - 1);
}
