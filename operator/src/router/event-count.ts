// How many events of a stream have passed, in however many parts they come. Comments, which a service that wakes sends, are none.

/** Every event has data, and no text within its JSON has a line of its own. */
const mark = Buffer.from('\ndata:');
const keptBytes = mark.byteLength - 1;

export class EventCount {
  private passed = 0;
  /** The end of what has passed: too short for a mark. */
  private kept = Buffer.from('\n');

  get value(): number {
    return this.passed;
  }

  add(part: Buffer): void {
    this.passed += marksIn(Buffer.concat([this.kept, part.subarray(0, keptBytes)])) + marksIn(part);
    const end = Buffer.concat([this.kept, part.subarray(-keptBytes)]);
    this.kept = end.subarray(-keptBytes);
  }
}

function marksIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.byteLength)) count += 1;
  return count;
}
