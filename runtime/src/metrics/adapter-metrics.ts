// Metrics of adapters: vLLM's, which inference gateways read to send a request where its adapter is, with names as labels and
// the time as the value; and how far the list of adapters is loaded.

import type { AdapterReport } from '@llmservice/crds';
import { Gauge, type Registry } from 'prom-client';

/**
 * @param max adapters at once; 0: there are none, and no metric
 * @param list null: there is none
 */
export function observeAdapters(
  registry: Registry,
  max: number,
  names: { readonly inUse: readonly string[] },
  list: { readonly report: AdapterReport } | null,
): void {
  if (max === 0) return;
  new Gauge({
    name: 'vllm:lora_requests_info',
    help: 'Adapters of requests that run or wait in the engine: the time of the scrape, with their names as labels.',
    labelNames: ['max_lora', 'running_lora_adapters', 'waiting_lora_adapters'],
    registers: [registry],
    collect() {
      this.reset();
      const running = names.inUse.join(',');
      const labels = { max_lora: String(max), running_lora_adapters: running, waiting_lora_adapters: '' };
      this.set(labels, Date.now() / 1000);
    },
  });
  if (list === null) return;
  new Gauge({
    name: 'llmservice_listed_adapters',
    help: 'Adapters of the list, by state: loaded, or failed and tried again.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { loaded, failed } = list.report;
      this.set({ state: 'loaded' }, loaded.length);
      this.set({ state: 'failed' }, failed.length);
    },
  });
}
