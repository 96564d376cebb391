import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { grpo } from '../algorithm/policy-optimisation/presets.ts'
import { overTokens } from '../algorithm/losses/over-tokens.ts'
import { ppoLoss } from '../algorithm/losses/ppo.ts'
import type { Algorithm, PolicyUpdate } from '../algorithm/types.ts'
import { AgogeError } from '../../error.ts'
import { loadLocalBackend } from '../backend/local-backend.ts'
import { trainJob } from './loop.ts'
import { boxJob } from './testing/box-job.ts'

const root = mkdtempSync(join(tmpdir(), 'agoge-non-finite-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const ppo = overTokens({ rl: (inputs) => ppoLoss(inputs, { clipLow: 0.2, clipHigh: 0.28 }) })

/** GRPO whose n-th non-zero update (from 1) is made non-finite. */
function spoiltAt(n: number, spoil: (update: PolicyUpdate) => PolicyUpdate): Algorithm {
  let seen = 0
  return async (groups, context) => {
    const update = await grpo({ kl: 0 })(groups, context)
    if (update.sequences.length === 0) return update
    return ++seen === n ? spoil(update) : update
  }
}

const withNaN = (update: PolicyUpdate): PolicyUpdate => {
  update.sequences[0].advantages.fill(NaN)
  return update
}

const cases: [string, (update: PolicyUpdate) => PolicyUpdate][] = [
  ['an advantage that is no number', withNaN],
  ['a custom loss that is no number', (update) => ({ ...withNaN(update), loss: ppo })],
  // Finite, but its square is not.
  [
    'a gradient beyond all bounds',
    (update) => ({
      ...update,
      loss: (logprobs) => ({ loss: 0, gradients: logprobs.map((row) => row.map(() => 1e38)) }),
    }),
  ],
]

test.each(cases)(
  '%s stops training, names the batch and keeps the last good weights',
  async (name, spoil) => {
    const folder = join(root, name.replaceAll(' ', '-'))
    const job = boxJob(folder, {
      checkpointEvery: 1,
      tasks: { validation: 4, test: 4, unseenParaphrases: 0 },
    })
    const stopped: unknown = await trainJob({ ...job, algorithm: spoiltAt(2, spoil) }).catch(
      (error: unknown) => error,
    )
    if (!AgogeError.isInstance(stopped)) throw new Error('expected an AgogeError')
    expect(stopped.code).toBe('non-finite-loss')
    const { step, episodes } = stopped.given as { step: number; episodes: string[] }
    expect(stopped.message).toContain(`in step ${step} of rl`)
    expect(stopped.message).toContain(`rl/${step - 1}/0:`)
    expect(episodes.length).toBe(job.plan.reinforcement.groups * job.plan.reinforcement.groupSize)
    const { checkpoint, state } = JSON.parse(readFileSync(join(folder, 'state.json'), 'utf8')) as {
      checkpoint: string
      state: { step: number }
    }
    expect(state.step).toBe(step - 1)
    const kept = join(folder, 'checkpoints', checkpoint)
    expect(stopped.hint).toContain(kept)
    const backend = await loadLocalBackend(kept, { threads: 1 })
    expect(backend.parameters.data.every(Number.isFinite)).toBe(true)
    await backend.dispose()
  },
)
