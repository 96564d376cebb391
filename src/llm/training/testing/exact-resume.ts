import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256 } from '../../../runs/checksums.ts'
import type { TrainingEvent } from '../../../runs/run-folder.ts'
import type { RunOptions } from '../run.ts'

/** Trains fresh models with these options and returns their final weights. */
export type TrainToWeights = (run: RunOptions) => Promise<readonly Float32Array[]>

/**
 * Trains in a folder, copies the folder in the middle of training as a `kill -9` would leave it, and resumes the copy.
 *
 * @param step after which the copy is made. It lies between two checkpoints, which are 2 steps apart.
 * @returns hashes of the final weights of four runs: the whole one, the resumed one, the resumed one opened again after its end,
 *   and one without a folder.
 */
export async function interrupt(train: TrainToWeights, step: number) {
  const root = mkdtempSync(join(tmpdir(), 'agoge-resume-'))
  const whole = join(root, 'whole')
  const killed = join(root, 'killed')
  let steps = 0
  const onEvent = (event: TrainingEvent): void => {
    if (event.type !== 'step' || event.phase.endsWith('-validation') || ++steps !== step) return
    cpSync(whole, killed, { recursive: true })
  }
  const hash = async (run: RunOptions): Promise<string> =>
    sha256((await train(run)).map((data) => sha256(new Uint8Array(data.buffer))).join())
  try {
    return {
      whole: await hash({ out: whole, checkpointEvery: 2, onEvent }),
      resumed: await hash({ out: killed, checkpointEvery: 2, resume: true }),
      reopened: await hash({ out: killed, checkpointEvery: 2, resume: true }),
      inMemory: await hash({}),
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}
