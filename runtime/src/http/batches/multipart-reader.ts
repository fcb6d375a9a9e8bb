// The parts of a multipart/form-data body (RFC 7578) as it comes: the headers of each part, its bytes in pieces, and its
// end. Holds no more than the headers of one part and the length of a boundary. Pure. Our own: busboy gives streams and
// events, of which each that nobody listens to would end the server; here whoever reads a chunk reads what is in it.

import { ApiError } from '../../request/body/api-error.js';

export type MultipartEvent =
  | { readonly kind: 'part'; readonly name: string; readonly filename: string | null }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'partEnd' };

const maxHeaderBytes = 16 * 1024;
const maxParts = 64;
/** Behind a boundary. */
const maxBlanks = 256;
const empty = Buffer.alloc(0);
const headersEnd = Buffer.from('\r\n\r\n');

type State = 'preamble' | 'afterBoundary' | 'headers' | 'content' | 'ended';

export class MultipartReader {
  readonly #delimiter: Buffer;
  #state: State = 'preamble';
  /** Of what came, what is not read yet. The first boundary has no line before it. */
  #rest: Buffer = Buffer.from('\r\n');
  #parts = 0;

  /** @param boundary as the content type has it */
  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  }

  /** @throws ApiError invalid_request */
  *push(chunk: Buffer): Generator<MultipartEvent> {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const step = this.#step();
      if (step === null) return;
      yield* step;
    }
  }

  /** The body has ended. @throws ApiError invalid_request */
  end(): void {
    if (this.#state !== 'ended') throw malformed('it ends before its last boundary');
  }

  /** Null: more has to come. */
  #step(): readonly MultipartEvent[] | null {
    switch (this.#state) {
      case 'preamble':
        return this.#skipTo('afterBoundary');
      case 'afterBoundary':
        return this.#afterBoundary();
      case 'headers':
        return this.#headers();
      case 'content':
        return this.#content();
      case 'ended':
        this.#rest = empty;
        return null;
    }
  }

  #skipTo(next: State): readonly MultipartEvent[] | null {
    const at = this.#rest.indexOf(this.#delimiter);
    if (at === -1) {
      this.#rest = this.#rest.subarray(this.#settled());
      return null;
    }
    this.#rest = this.#rest.subarray(at + this.#delimiter.length);
    this.#state = next;
    return [];
  }

  /** Two hyphens end the body; else a line ends, which may have blanks. */
  #afterBoundary(): readonly MultipartEvent[] | null {
    const blanks = this.#rest.findIndex((byte) => byte !== 0x20 && byte !== 0x09);
    if (blanks === -1 && this.#rest.length > maxBlanks) throw malformed('a boundary has no end');
    if (blanks === -1 || this.#rest.length < blanks + 2) return null;
    const mark = this.#rest.toString('latin1', blanks, blanks + 2);
    if (mark === '--') {
      this.#state = 'ended';
      return [];
    }
    if (mark !== '\r\n') throw malformed('a boundary does not end its line');
    this.#parts += 1;
    if (this.#parts > maxParts) throw malformed(`it has more than ${String(maxParts)} parts`);
    // With the end of the line, so that a part without headers has theirs ended too.
    this.#rest = this.#rest.subarray(blanks);
    this.#state = 'headers';
    return [];
  }

  #headers(): readonly MultipartEvent[] | null {
    const end = this.#rest.indexOf(headersEnd);
    if (end > maxHeaderBytes || (end === -1 && this.#rest.length > maxHeaderBytes))
      throw malformed(`the headers of a part have more than ${String(maxHeaderBytes)} bytes`);
    if (end === -1) return null;
    const headers = this.#rest.toString('utf8', 0, end);
    // The content's first boundary may follow at once: its line feed is the one that ended the headers.
    this.#rest = this.#rest.subarray(end + headersEnd.length);
    this.#state = 'content';
    return [partOf(headers)];
  }

  #content(): readonly MultipartEvent[] | null {
    const at = this.#rest.indexOf(this.#delimiter);
    const end = at === -1 ? this.#settled() : at;
    const bytes = this.#rest.subarray(0, end);
    const events: MultipartEvent[] = end > 0 ? [{ kind: 'bytes', bytes }] : [];
    if (at === -1) {
      this.#rest = this.#rest.subarray(end);
      return events.length === 0 ? null : events;
    }
    this.#rest = this.#rest.subarray(at + this.#delimiter.length);
    this.#state = 'afterBoundary';
    return [...events, { kind: 'partEnd' }];
  }

  /** Bytes in which no boundary can begin. */
  #settled(): number {
    return Math.max(0, this.#rest.length - this.#delimiter.length + 1);
  }
}

/** The boundary that a content type names. @throws ApiError invalid_request */
export function boundaryOf(contentType: string | undefined): string {
  const [, quoted, plain] =
    /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType ?? '') ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined || boundary.length > 200)
    throw ApiError.of(
      'invalid_request',
      'a file is sent as multipart/form-data with the parts purpose and file: curl -F purpose=batch -F file=@NAME',
    );
  return boundary;
}

function partOf(headers: string): MultipartEvent {
  const disposition = /^content-disposition:\s*form-data\s*;(.*)$/im.exec(headers)?.[1] ?? '';
  const name = parameter(disposition, 'name');
  if (name === null) throw malformed('a part has no name');
  return { kind: 'part', name, filename: parameter(disposition, 'filename') };
}

/** As browsers write it: quotes and line ends in percent encoding. */
function parameter(disposition: string, name: string): string | null {
  const [, quoted, plain] =
    new RegExp(`(?:^|;)\\s*${name}=(?:"([^"]*)"|([^\\s;]+))`, 'i').exec(disposition) ?? [];
  const text = quoted ?? plain;
  return text?.replaceAll('%22', '"').replaceAll(/%0D|%0A/gi, ' ') ?? null;
}

const malformed = (why: string): ApiError =>
  ApiError.of('invalid_request', `the body is no multipart/form-data: ${why}`);
