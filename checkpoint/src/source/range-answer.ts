// What an HTTP answer to a request for a range of bytes gives.

import type { OpenRange } from './byte-source.js';

/** An answer that names no range is the whole file, whatever was asked for. */
export function readRangeAnswer(
  status: number | undefined,
  contentRange: string | undefined,
  contentLength: number | undefined,
): Pick<OpenRange, 'begin' | 'end' | 'fileBytes' | 'answer'> {
  const answer = `HTTP ${String(status)} and ${contentRange === undefined ? 'no Content-Range' : `Content-Range: ${contentRange}`}`;
  const range = status === 206 ? (contentRange ?? '') : '';
  const [, begin, last, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(range) ?? [];
  if (begin === undefined) return { begin: 0, end: null, fileBytes: contentLength ?? null, answer };
  const fileBytes = total === '*' ? null : Number(total);
  return { begin: Number(begin), end: Number(last) + 1, fileBytes, answer };
}
