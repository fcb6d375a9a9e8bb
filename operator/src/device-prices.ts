// What an hour of a device costs: by the service's own budget, else by the profile, as the administrator set it.

import type { LlmServiceSpec } from '@llmservice/crds';

export interface DevicePrices {
  /** By profile, by extended resource, or `cpu`. */
  readonly perHour: ReadonlyMap<string, number>;
  readonly currency: string | null;
}

/** An older CRD does not fill in what is by default. */
type Spec = Partial<Pick<LlmServiceSpec, 'budget'>> & {
  readonly accelerator?: Partial<LlmServiceSpec['accelerator']>;
};

/** By which a device is priced and counted: its profile, else its resource, else the CPU. */
export function deviceOf({ accelerator: { profile, resourceName = 'none' } = {} }: Spec): string {
  return profile ?? (resourceName === 'none' ? 'cpu' : resourceName);
}

/** Null: nobody said. */
export function priceOf(
  spec: Spec,
  { perHour, currency }: DevicePrices,
): { readonly perHour: number; readonly currency: string } | null {
  const own = spec.budget?.costPerDeviceHour;
  if (own !== undefined) return { perHour: Number(own), currency: spec.budget?.currency ?? currency ?? '' };
  const price = perHour.get(deviceOf(spec));
  return price === undefined ? null : { perHour: price, currency: currency ?? '' };
}

/** `h100=2.49`. @throws Error that says what is wrong with one */
export function parseDevicePrice(text: string): readonly [device: string, perHour: number] {
  const [, device, price] = /^([a-z0-9][-a-z0-9./]*)=(\d[\d.e+-]*)$/.exec(text) ?? [];
  if (device === undefined || !Number.isFinite(Number(price))) {
    throw new Error(
      `--device-price (DEVICE_PRICE) must be PROFILE=PRICE, such as h100=2.49, and not ${JSON.stringify(text)}`,
    );
  }
  return [device, Number(price)];
}
