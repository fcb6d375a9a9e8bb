// Types of tensors that hold their values as they are.

export const plainTypes: readonly string[] = ['F32', 'BF16', 'F16'];
