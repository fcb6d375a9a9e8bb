/** RFC 3339 to the second, as Kubernetes keeps times. */
export function timestamp(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
