// A line of a log as a person reads it: time, level, message, then the fields. What is no JSON stays as it is. Pure.

const hidden = new Set(['timestamp', 'level', 'message', 'stack']);

export function renderLogLine(line: string): string {
  const fields = parseLogLine(line);
  if (fields === null) return line;
  const { timestamp, level, message, stack } = fields;
  const time = typeof timestamp === 'string' ? (/T([\d:.]+)/.exec(timestamp)?.[1] ?? timestamp) : '';
  const rest = Object.entries(fields)
    .filter(([name, value]) => !hidden.has(name) && value !== null)
    .map(([name, value]) => `${name}=${renderValue(value)}`);
  const words = [time, text(level).padEnd(5), text(message), ...rest].filter((part) => part.trim() !== '');
  const trace = typeof stack === 'string' ? `\n${stack.replace(/^/gm, '    ')}` : '';
  return words.join(' ') + trace;
}

/** What the API server puts before a line where it is asked for timestamps. */
export function splitStamp(line: string): { readonly at: string; readonly text: string } {
  const [, at = '', text = line] = /^(\d{4}-\d\d-\d\dT\S+) (.*)$/s.exec(line) ?? [];
  return { at, text };
}

/** Null: it is no JSON object with a message. */
export function parseLogLine(line: string): Readonly<Record<string, unknown>> | null {
  if (!line.startsWith('{')) return null;
  try {
    const value = JSON.parse(line) as Record<string, unknown>;
    return 'message' in value ? value : null;
  } catch {
    return null;
  }
}

function renderValue(value: unknown): string {
  if (typeof value === 'string' && /^[^\s"=]+$/.test(value)) return value;
  return JSON.stringify(value);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '');
}
