// What an answer says beside its calls. Space around calls is no part of it.

import { CodeFences } from './code-fences.js';

export class AnswerText {
  private content = '';
  /** Counts only if text follows. */
  private space = '';
  private readonly fences = new CodeFences();
  /** Whether there is more than space. */
  isSaid = false;

  /** Whether what comes next is shown as code. */
  get isCode(): boolean {
    return this.fences.isOpen;
  }

  /** Whether what comes behind a text begins a line. */
  isLine(text: string): boolean {
    const before = this.space + text;
    const lineBreak = before.lastIndexOf('\n');
    return before.slice(lineBreak + 1).trim() === '' && (lineBreak !== -1 || !this.isSaid);
  }

  say(text: string, isBehindCall: boolean): void {
    this.fences.read(text);
    const visible = text.trimEnd();
    if (visible !== '') {
      const whole = this.space + visible;
      this.content += this.isSaid || !isBehindCall ? whole : whole.trimStart();
      this.isSaid = true;
      this.space = '';
    }
    this.space += text.slice(visible.length);
  }

  /** The answer ends, and has no call that the space would stand around. */
  endWithSpace(): void {
    this.content += this.space;
  }

  /** What came since the last time. */
  take(): string {
    const { content } = this;
    this.content = '';
    return content;
  }
}
