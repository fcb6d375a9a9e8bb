// The names that functions may have on every protocol: those that no dialect of tool calls can mistake for anything else.

export const functionName = { type: 'string', pattern: '^[a-zA-Z0-9_.:/-]{1,128}$' };
