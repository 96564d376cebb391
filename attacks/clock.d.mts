export const milliseconds: () => number
