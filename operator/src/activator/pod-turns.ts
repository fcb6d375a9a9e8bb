// Which of a service's pods gets the next request: one after the other, but those that could not be reached just now
// only where there is no other.

/** How long a pod is passed over that could not be reached. */
const awayMs = 30_000;
/** Of services: a turn that is forgotten only begins anew. */
const maxTurns = 1_000;

export class PodTurns {
  /** Where the last request of each service went. */
  private readonly last = new Map<string, string>();
  /** Until when each pod is passed over, by a monotonic clock. */
  private readonly away = new Map<string, number>();

  /** @param urls one at least */
  next(key: string, urls: readonly string[]): string {
    const after = urls.indexOf(this.last.get(key) ?? '') + 1;
    const inTurn = [...urls.slice(after), ...urls.slice(0, after)];
    const url = inTurn.find((each) => !this.isAway(each)) ?? inTurn[0] ?? '';
    if (this.last.size >= maxTurns) this.last.clear();
    this.last.set(key, url);
    return url;
  }

  reached(url: string): void {
    this.away.delete(url);
  }

  unreached(url: string): void {
    for (const [each, until] of this.away) if (until <= performance.now()) this.away.delete(each);
    this.away.set(url, performance.now() + awayMs);
  }

  /** Whether there is none to go to but those that could not be reached. */
  areAway(urls: readonly string[]): boolean {
    return urls.every((url) => this.isAway(url));
  }

  private isAway(url: string): boolean {
    return (this.away.get(url) ?? 0) > performance.now();
  }
}
