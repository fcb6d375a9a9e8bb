// Where a marker may have begun at the end of a text whose rest has not come.

/** Length of the longest end of `text` that is the beginning of `marker`, and not all of it. */
export function partialMarker(text: string, marker: string): number {
  for (let length = Math.min(marker.length - 1, text.length); length > 0; length--) {
    if (marker.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
