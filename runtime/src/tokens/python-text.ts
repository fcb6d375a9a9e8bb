// A template's value as text, as Python's str() gives it: that is what models saw in training where a template prints a
// value, or makes a string of one.

/** A value of the library. */
export interface Value {
  readonly type: string;
  readonly value: unknown;
  /** Of numbers: the library knows which are integers. */
  toString(): string;
}

export function pythonText(value: Value): string {
  if (value.type === 'StringValue') return value.value as string;
  return value.type === 'UndefinedValue' ? '' : written(value);
}

/** As Python's repr() gives it. */
function written(value: Value): string {
  const elements = (): string => (value.value as readonly Value[]).map(written).join(', ');
  switch (value.type) {
    case 'NullValue':
      return 'None';
    case 'BooleanValue':
      return value.value === true ? 'True' : 'False';
    case 'StringValue':
      return quoted(value.value as string);
    case 'ArrayValue':
      return `[${elements()}]`;
    case 'TupleValue':
      return `(${elements()})`;
    case 'ObjectValue':
      return `{${[...(value.value as ReadonlyMap<string, Value>)]
        .map(([name, of]) => `${quoted(name)}: ${written(of)}`)
        .join(', ')}}`;
    default:
      return value.toString();
  }
}

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** In double quotes only if that spares it a backslash. */
function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text
    .replace(quote === "'" ? /[\\']/g : /\\/g, '\\$&')
    .replace(/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu, (each) => named[each] ?? byCode(each.codePointAt(0) ?? 0));
  return quote + escaped + quote;
}

function byCode(code: number): string {
  const hex = code.toString(16);
  if (code < 0x100) return `\\x${hex.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
