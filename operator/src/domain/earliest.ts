/** The earliest of some delays in milliseconds; null: never. */
export function earliest(...delays: readonly (number | null)[]): number | null {
  const some = delays.filter((delay) => delay !== null);
  return some.length === 0 ? null : Math.min(...some);
}
