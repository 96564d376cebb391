import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { AgogeError } from '../../error.ts'
import { createScalarModel } from '../../llm/backend/scalar-model.ts'
import { readCheckpoint } from '../../llm/checkpoint/checkpoint.ts'
import type { GroupReward } from '../../llm/reward/reward.ts'
import { episodeAnswer } from '../../llm/training/preference/online.ts'
import { rewardScores } from '../../llm/training/preference/reward-model.ts'
import { modelFolder } from '../shared/runs.ts'

/**
 * The folder of a reward model, absolute: that of a run of `train-offline --method reward-model`, or of one of its checkpoints.
 *
 * @throws AgogeError where there is none.
 */
export function findRewardModel(given: string): string {
  const folder = resolve(modelFolder(given))
  if (existsSync(join(folder, 'score.safetensors'))) return folder
  throw new AgogeError(`There is no reward model in ${given}.`, {
    code: 'unknown-model',
    given,
    expected: 'a finished run of agoge train-offline --method reward-model',
  })
}

/**
 * The reward of a trained reward model: how likely its score says that an episode is a good one, 0 to 1. Episodes of a group are read in one
 * batch; those that are no single row of tokens cannot be scored.
 */
export async function openRewardModel(
  folder: string,
): Promise<{ reward: GroupReward; dispose: () => Promise<void> }> {
  const { config } = await readCheckpoint(folder)
  const model = createScalarModel({ config })
  await model.load(folder)
  // It answers one question at a time.
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
