import { availableParallelism, cpus, totalmem } from 'node:os'

/** The machine of a run, for the record. */
export interface Machine {
  platform: string
  cpu: string
  cores: number
  memoryGiB: number
  node: string
}

export function machine(): Machine {
  return {
    platform: `${process.platform} ${process.arch}`,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  }
}
