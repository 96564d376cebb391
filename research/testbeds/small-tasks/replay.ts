import type { Random } from 'agoge/engine'
import { each } from '../each.ts'
import { batch, horizon, width } from './features.ts'
import { actions, gamma, inputs } from './small-tasks.ts'
import type { SmallTask } from './small-tasks.ts'

/** A step of an episode. */
export interface Step {
  state: number
  action: number
  reward: number
  next: number
  terminated: boolean
  /** Whether the episode ends with this step, for whatever reason. */
  last: boolean
}

/** Rewards of the model's targets, so that large ones do not drown small ones. */
const logarithmic = (reward: number): number => Math.sign(reward) * Math.log1p(Math.abs(reward))

/** What targets are made from: latents and values of all states under the weights of the last synchronisation. */
export interface Targets {
  latents: ArrayLike<number>[]
  values: number[]
  /** By which rewards were divided then. */
  scale: number
}

const rows = (columns: number) => ({
  data: new Float32Array(batch * columns),
  shape: [batch, columns],
})

/**
 * Makes the feeds of an update from random places in the steps: the targets of the model over an unroll, and the return over as many steps,
 * with the value of the state that these lead to. Both end with the episode. Arrays are filled anew each time.
 */
export function batches({ rows: seen }: SmallTask, steps: readonly Step[], random: Random) {
  const feeds: Record<string, ReturnType<typeof rows>> = { seen: rows(inputs), target: rows(1) }
  for (const h of each(horizon)) {
    feeds[`action${h}`] = rows(actions)
    feeds[`after${h}`] = rows(width + 2)
    feeds[`mask${h}`] = rows(1)
  }
  return ({ latents, values, scale }: Targets, scaleNow: number) => {
    for (const feed of Object.values(feeds)) feed.data.fill(0)
    for (let row = 0; row < batch; row++) {
      const first = random.int(steps.length - horizon)
      feeds['seen'].data.set(seen[steps[first].state], row * inputs)
      let [target, discount] = [0, 1]
      for (let h = 0; h < horizon; h++) {
        const { action, reward, next, terminated, last } = steps[first + h]
        feeds[`action${h}`].data[row * actions + action] = 1
        const after = [...Array.from(latents[next]), logarithmic(reward / scaleNow), Number(terminated)]
        feeds[`after${h}`].data.set(after, row * (width + 2))
        feeds[`mask${h}`].data[row] = 1
        target += (discount * reward) / scaleNow
        discount *= terminated ? 0 : gamma
        const ends = last || h === horizon - 1
        if (ends) target += (discount * values[next] * scale) / scaleNow
        if (ends) break
      }
      feeds['target'].data[row] = target
    }
    return feeds
  }
}
