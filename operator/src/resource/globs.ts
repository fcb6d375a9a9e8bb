// Patterns of an administrator: `*` stands for any characters but the separator, `**` for any at all.

/** @param separator of the parts of what is matched, such as `/` of images or `.` of hosts */
export function matchesGlob(pattern: string, text: string, separator: '/' | '.'): boolean {
  const any = `[^${separator}]*`;
  const source = pattern
    .split(/(\*\*|\*)/)
    .map((part) => (part === '**' ? '.*' : part === '*' ? any : part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')))
    .join('');
  return new RegExp(`^${source}$`).test(text);
}
