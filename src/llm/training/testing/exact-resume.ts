import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256 } from '../../../runs/checksums.ts'
import type { TrainingEvent } from '../../../runs/run-folder.ts'
import type { RunOptions } from '../run.ts'

/** Trains fresh models by these options, and returns the weights that they end with. */
export type TrainToWeights = (run: RunOptions) => Promise<readonly Float32Array[]>

/**
 * Trains in a folder, keeps a copy of it as a `kill -9` would leave it in the midst of training, and resumes the copy.
 *
 * @param step after which the copy is made; it lies between two checkpoints, which are 2 steps apart.
 * @returns hashes of the weights: of the whole run, of the resumed one, of the resumed run opened once more when it was over, and of a run without a folder.
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
