// Whether a text that comes in pieces is within a fenced block of code, as Markdown writes them: what stands there is shown.

/** What of a line is kept until it ends: fences are at its beginning. */
const longestLine = 256;

export class CodeFences {
  /** The beginning of the line that has not ended. */
  private line = '';
  /** What opened the block; null: outside of one. */
  private opening: string | null = null;

  get isOpen(): boolean {
    return this.opening !== null;
  }

  read(text: string): void {
    const lines = text.split('\n');
    lines[0] = this.line + (lines[0] ?? '');
    this.line = (lines.pop() ?? '').slice(0, longestLine);
    for (const line of lines) this.endLine(line);
  }

  private endLine(line: string): void {
    const [, fence, info = ''] = /^\s*(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (fence === undefined) return;
    if (this.opening === null) {
      // Backticks that a line opens and closes are code within it.
      if (fence.startsWith('~') || !info.includes('`')) this.opening = fence;
    } else if (fence.startsWith(this.opening) && info.trim() === '') this.opening = null;
  }
}
