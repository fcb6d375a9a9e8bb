// Rows of a table as lines, each column as wide as its widest cell. Pure.

/** @param table with its titles first */
export function alignedRows(table: readonly (readonly string[])[], indent = ''): string[] {
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  );
  return table.map((row) => {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    return `${indent}${cells.join('  ')}`.trimEnd();
  });
}
