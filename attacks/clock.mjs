/** Milliseconds of a clock that all processes of the machine share, and that nothing sets back. */
export const milliseconds = () => Number(process.hrtime.bigint()) / 1e6
