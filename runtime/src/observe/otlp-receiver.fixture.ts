// An OTLP/HTTP endpoint that keeps the spans it is sent, read from their protobuf encoding
// (opentelemetry/proto/trace/v1/trace.proto; the numbers below are its field numbers).

import { createServer, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: none. */
  readonly parentId: string;
  readonly name: string;
  readonly kind: number;
  /** Unix time in milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** 2: error. */
  readonly status: number;
  readonly resource: Readonly<Record<string, unknown>>;
}

export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  requests = 0;
  /** Answers instead of taking the spans, such as by not answering at all. */
  instead: RequestListener | null = null;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<OtlpReceiver> {
    const server = createServer();
    const receiver = new OtlpReceiver(server);
    server.on('request', (request, response) => {
      receiver.requests += 1;
      if (receiver.instead !== null) {
        receiver.instead(request, response);
        return;
      }
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const isTraces = request.url === '/v1/traces' && request.method === 'POST';
        if (isTraces) receiver.spans.push(...spansOf(Buffer.concat(parts)));
        response.writeHead(isTraces ? 200 : 404, { 'content-type': 'application/x-protobuf' }).end();
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${String((this.server.address() as AddressInfo).port)}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

function spansOf(body: Buffer): ReceivedSpan[] {
  return all(body, 1).flatMap((resourceSpans) => {
    const resource = attributesOf(bytes(resourceSpans, 1), 1);
    const spans = all(resourceSpans, 2).flatMap((scopeSpans) => all(scopeSpans, 2));
    return spans.map((span) => ({
      traceId: bytes(span, 1).toString('hex'),
      spanId: bytes(span, 2).toString('hex'),
      parentId: bytes(span, 4).toString('hex'),
      name: bytes(span, 5).toString(),
      kind: Number(value(span, 6) ?? 0),
      startMs: Number(value(span, 7)) / 1e6,
      endMs: Number(value(span, 8)) / 1e6,
      attributes: attributesOf(span, 9),
      status: Number(value(bytes(span, 15), 3) ?? 0),
      resource,
    }));
  });
}

function attributesOf(message: Buffer, field: number): Record<string, unknown> {
  return Object.fromEntries(
    all(message, field).map((pair) => [bytes(pair, 1).toString(), anyValue(bytes(pair, 2))]),
  );
}

function anyValue(message: Buffer): unknown {
  const [field] = fieldsOf(message);
  switch (field?.number) {
    case 1:
      return String(field.value);
    case 2:
      return field.value !== 0n;
    case 3:
      return Number(BigInt.asIntN(64, field.value as bigint));
    case 4: {
      const bits = Buffer.alloc(8);
      bits.writeBigUInt64LE(field.value as bigint);
      return bits.readDoubleLE();
    }
    case 5:
      return all(field.value as Buffer, 1).map(anyValue);
    default:
      return null;
  }
}

/** Of a length-delimited field a Buffer, of any other its bits. */
type FieldValue = bigint | Buffer;

const all = (message: Buffer, number: number): Buffer[] =>
  fieldsOf(message).flatMap((field) => (field.number === number ? [field.value as Buffer] : []));
const value = (message: Buffer, number: number): FieldValue | undefined =>
  fieldsOf(message).find((field) => field.number === number)?.value;
const bytes = (message: Buffer, number: number): Buffer =>
  (value(message, number) as Buffer | undefined) ?? Buffer.alloc(0);

/** Protobuf's wire format: varints, 64 bits, bytes with their length, 32 bits. */
function fieldsOf(message: Buffer): { readonly number: number; readonly value: FieldValue }[] {
  const fields = [];
  let at = 0;
  const varint = (): bigint => {
    let read = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++);
      read |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return read;
    }
  };
  const take = (length: number): Buffer => message.subarray(at, (at += length));
  while (at < message.length) {
    const tag = Number(varint());
    const kind = tag & 7;
    const read: FieldValue =
      kind === 0
        ? varint()
        : kind === 1
          ? take(8).readBigUInt64LE()
          : kind === 2
            ? take(Number(varint()))
            : BigInt(take(4).readUInt32LE());
    fields.push({ number: tag >> 3, value: read });
  }
  return fields;
}
