// The text of one member of a JSON object, as it stands there: what is parsed and written again may have lost the order of
// names and the digits of numbers. Pure.

const space = /[\s,:]/;

/**
 * @param json an object in valid JSON
 * @returns of the last member of that name, as JSON.parse takes it; null: there is none
 */
export function memberText(json: string, name: string): string | null {
  let found: string | null = null;
  let at = json.indexOf('{') + 1;
  for (;;) {
    at = skipSpace(json, at);
    if (at >= json.length || json[at] === '}') return found;
    const nameEnd = valueEnd(json, at);
    const isNamed = JSON.parse(json.slice(at, nameEnd)) === name;
    const begin = skipSpace(json, nameEnd);
    at = valueEnd(json, begin);
    if (isNamed) found = json.slice(begin, at);
  }
}

function skipSpace(json: string, from: number): number {
  let at = from;
  while (at < json.length && space.test(json.charAt(at))) at += 1;
  return at;
}

/** Where the value ends that begins here. */
function valueEnd(json: string, from: number): number {
  let depth = 0;
  for (let at = from; at < json.length; at++) {
    const letter = json[at];
    if (letter === '"') {
      at = textEnd(json, at);
      if (depth === 0) return at + 1;
    } else if (letter === '{' || letter === '[') depth += 1;
    else if (letter === '}' || letter === ']') {
      depth -= 1;
      if (depth === 0) return at + 1;
      // A number or a word, and the end of the object that it is in.
      if (depth < 0) return at;
    } else if (depth === 0 && (letter === ',' || (at > from && space.test(json.charAt(at))))) return at;
  }
  return json.length;
}

/** Of the quote that ends the text whose first quote is here. */
function textEnd(json: string, from: number): number {
  for (let at = from + 1; at < json.length; at++) {
    if (json[at] === '\\') at += 1;
    else if (json[at] === '"') return at;
  }
  return json.length;
}
