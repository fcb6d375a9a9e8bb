// vLLM's metric of adapters, which inference gateways read to send a request where its adapter is: names as labels, and the
// time as the value.

import { Gauge, type Registry } from 'prom-client';

/** @param most adapters at once; 0: there are none, and no metric */
export function observeAdapters(
  registry: Registry,
  most: number,
  names: { readonly inUse: readonly string[] },
): void {
  if (most === 0) return;
  new Gauge({
    name: 'vllm:lora_requests_info',
    help: 'Adapters of requests that run or wait in the engine: the time of the scrape, with their names as labels.',
    labelNames: ['max_lora', 'running_lora_adapters', 'waiting_lora_adapters'],
    registers: [registry],
    collect() {
      this.reset();
      const running = names.inUse.join(',');
      const labels = { max_lora: String(most), running_lora_adapters: running, waiting_lora_adapters: '' };
      this.set(labels, Date.now() / 1000);
    },
  });
}
