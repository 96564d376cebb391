import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { AgogeError } from '../../error.ts'
import { createScalarModel } from '../../llm/backend/scalar-model.ts'
import { readCheckpoint } from '../../llm/checkpoint/checkpoint.ts'
import type { GroupReward } from '../../llm/reward/reward.ts'
import { episodeAnswer } from '../../llm/training/preference/online.ts'
import { rewardScores } from '../../llm/training/preference/reward-model.ts'
import { modelFolder } from '../../llm/checkpoint/checkpoint.ts'
import { trainerOf } from '../shared/runs.ts'

/**
 * Returns the absolute folder of a reward model: that of a `train-offline --method reward-model` run, or one of its
 * checkpoints.
 *
 * @throws AgogeError `unknown-model` if there is none, `bad-argument` for a process reward model.
 */
export function findRewardModel(given: string): string {
  const folder = resolve(modelFolder(given))
  if (existsSync(join(folder, 'score.safetensors'))) {
    if (trainerOf(resolve(folder, '..', '..')) !== 'process-reward-model') return folder
    throw new AgogeError(`${given} is a process reward model: it scores steps, not episodes`, {
      code: 'bad-argument',
      given: 'a run of agoge train-offline --method process-reward-model',
      expected: 'a run of agoge train-offline --method reward-model',
    })
  }
  throw new AgogeError(`There is no reward model in ${given}.`, {
    code: 'unknown-model',
    given,
    expected: 'a finished run of agoge train-offline --method reward-model',
  })
}

/**
 * Makes the reward of a trained reward model: the probability, 0 to 1, that an episode is good. The episodes of a group
 * are scored in one batch. An episode must be a single row of tokens to be scored.
 */
export async function openRewardModel(
  folder: string,
): Promise<{ reward: GroupReward; dispose: () => Promise<void> }> {
  const { config } = await readCheckpoint(folder)
  const model = createScalarModel({ config })
  await model.load(folder)
  // The model answers one request at a time.
  let last: Promise<unknown> = Promise.resolve()
  const reward: GroupReward = {
    async scoreGroup(episodes, { signal }) {
      const answers = episodes.map(episodeAnswer)
      const readable = answers.filter((answer) => answer !== null)
      const asked = last.then(() => (readable.length === 0 ? [] : rewardScores(model, readable, { signal })))
      last = asked.catch(() => {})
      const scores = await asked
      return answers.map((answer) =>
        answer === null ? null : 1 / (1 + Math.exp(-scores[readable.indexOf(answer)])),
      )
    },
  }
  return { reward, dispose: () => model.dispose() }
}
