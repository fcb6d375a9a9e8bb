// Kubernetes quantities ("48Gi", "1500m", "2") as numbers. The client library's quantityToScalar throws on "1.5Gi".

const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

const form = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE])|[eE]([+-]?\d+))?$/;

/** The value of a quantity, or null for text that is none. */
export function parseQuantity(text: string | number): number | null {
  const match = form.exec(String(text).trim());
  if (match === null) return null;
  const [, digits = '', suffix = '', exponent] = match;
  const factor = exponent === undefined ? factors[suffix] : 10 ** Number(exponent);
  return factor === undefined ? null : Number(digits) * factor;
}

/** Of bytes that something can have. Larger ones are no whole numbers any more, and the largest no JSON. */
export function isAmount(value: number | null): value is number {
  return value !== null && value > 0 && value <= Number.MAX_SAFE_INTEGER;
}

export const notAnAmount = 'must be a quantity above zero and below 8Pi';

/** Bytes as Kubernetes prints them: whole Mi, rounded up. */
export function formatMi(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)}Mi`;
}
