// Where markers are in a text, or may have begun at its end, whose rest has not come.

/** Length of the longest end of `text` that is the beginning of `marker`, and not all of it. */
export function partialMarker(text: string, marker: string): number {
  for (let length = Math.min(marker.length - 1, text.length); length > 0; length--) {
    if (marker.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}

/** Null: the text has none of them. */
export function firstMarker(
  text: string,
  markers: readonly string[],
): { readonly marker: string; readonly at: number } | null {
  const found = markers.map((marker) => ({ marker, at: text.indexOf(marker) })).filter(({ at }) => at !== -1);
  return found.sort((a, b) => a.at - b.at)[0] ?? null;
}
