import { frameStack, rowSize } from '../../environment/index.ts'
import type { ClassicAlgorithm, UpdateMetrics } from '../agent.ts'
import { readOnly } from '../read-only.ts'
import type { MakeBonus } from './bonus.ts'

/**
 * The same algorithm on rewards to which `weight` times an exploration bonus is added. The learner alone sees the sum:
 * the returns that the environment counts, and its rewards after `learn`, are those of the task. The bonus ends with the
 * episode, as the learner knows no other value than that of the task.
 */
export const withBonus =
  (algorithm: ClassicAlgorithm, makeBonus: MakeBonus, weight: number): ClassicAlgorithm =>
  async (environment, options) => {
    const { rewards } = environment
    const numEnvs = environment.numEnvs.count
    const { window } = makeBonus
    const stacked =
      window === undefined
        ? undefined
        : frameStack(
            readOnly(environment, () => false),
            window,
          )
    /** What the bonus sees. */
    const seen = stacked ?? environment
    const width = rowSize(seen.definition.observation)
    const agent = await algorithm(
      {
        ...environment,
        reset(given) {
          const resetting = environment.reset(given)
          if (resetting instanceof Promise) return resetting.then(() => stacked?.reset(given))
          return stacked?.reset(given)
        },
      },
      options,
    )
    const bonus = await makeBonus(seen.definition, {
      numEnvs,
      seed: options.seed,
      threads: options.threads ?? 1,
    })
    const before = new Float32Array(numEnvs * width)
    const after = new Float32Array(numEnvs * width)
    const found = new Float64Array(numEnvs)
    const own = new Float64Array(numEnvs)
    let total = 0
    let count = 0
    let begun = false

    /** After acting: who plays whole episodes may have begun others. */
    const look = (): void => before.set(seen.observations)

    async function learn(): Promise<UpdateMetrics | undefined> {
      stacked?.step()
      const { actions, terminated, truncated, observations, finalObservations } = seen
      for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
        const ended = terminated[envIndex] === 1 || truncated[envIndex] === 1
        const from = ended && environment.autoreset === 'same-step' ? finalObservations : observations
        for (let i = envIndex * width; i < (envIndex + 1) * width; i++) after[i] = from[i]
      }
      bonus.bonus(before, actions, after, numEnvs, found)
      own.set(rewards)
      for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
        rewards[envIndex] += weight * found[envIndex]
        total += found[envIndex]
        count++
      }
      const metrics = await agent.learn()
      rewards.set(own)
      const learned = await bonus.learn(before, actions, after, numEnvs)
      if (metrics === undefined) return undefined
      const mean = total / count
      total = 0
      count = 0
      return { ...metrics, ...learned, bonus: mean }
    }

    return {
      ...agent,
      act() {
        // It is only told, so this is done at once.
        if (!begun) void stacked?.reset()
        begun = true
        const acting = agent.act()
        if (acting instanceof Promise) return acting.then(look)
        look()
      },
      learn,
      state: () => ({
        agent: agent.state(),
        bonus: bonus.state(),
        window: stacked?.state(),
        before: before.slice(),
        total,
        count,
        begun,
      }),
      restore(saved) {
        const state = saved as {
          agent: unknown
          bonus: unknown
          window: ReturnType<typeof environment.state> | undefined
          before: Float32Array
          total: number
          count: number
          begun: boolean
        }
        agent.restore(state.agent)
        bonus.restore(state.bonus)
        if (state.window !== undefined) stacked?.restore(state.window)
        before.set(state.before)
        ;({ total, count, begun } = state)
      },
      async dispose() {
        await agent.dispose()
        await bonus.dispose()
      },
    }
  }
