/** Whether `text` is a whole URL that begins with http:// or https://. */
export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
