/** 0 to length - 1, to go through by `map`. */
export const each = (length: number): number[] => Array.from({ length }, (_, k) => k)
