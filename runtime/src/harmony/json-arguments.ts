// Arguments of a call as the model writes them, without space around them. Control characters within strings, which JSON
// does not have, are escaped.

export class JsonArguments {
  /** Whether nothing but space came. */
  isEmpty = true;
  private inString = false;
  private escaped = false;
  /** Counts only if more follows. */
  private space = '';

  push(text: string): string {
    let whole = '';
    for (const char of text) {
      if (!this.inString && /\s/.test(char)) {
        if (!this.isEmpty) this.space += char;
        continue;
      }
      whole += this.space + (this.inString && char < ' ' ? JSON.stringify(char).slice(1, -1) : char);
      this.space = '';
      this.isEmpty = false;
      if (char === '"' && !this.escaped) this.inString = !this.inString;
      this.escaped = this.inString && char === '\\' && !this.escaped;
    }
    return whole;
  }
}
