import { AgogeError } from '../../error.ts'
import { readScore } from '../episode/score.ts'
import type { Episode } from '../episode/types.ts'
import type { GroupReward, Reward, RewardContext, RewardFunction } from './reward.ts'

/** Reward of each event. Missing entries are 0. */
export interface TaskRewardSettings {
  /** Given once, if the environment's own check says that the task is done. Default: 1. */
  success?: number
  /** Added for every call of a successful episode. Negative values favour short solutions. */
  perCall?: number
  /** Added for every call of a successful episode that could not be parsed or does not fit the tool's schema. */
  perInvalidCall?: number
  /** Added if the policy hit a limit (turns or tokens) instead of answering. */
  brokenOff?: number
}

/**
 * The environment's own success check, minus small costs. Partial goals earn nothing, or the policy would learn to do only the
 * easy part. Costs apply to successes only: in a group that fails entirely, costs would be the only difference between members,
 * and the policy would learn to fail without trying. Keep costs small, so that every success is worth more than any failure.
 *
 * @example taskReward({ perCall: -0.02, perInvalidCall: -0.1 })
 */
export function taskReward(settings: TaskRewardSettings = {}): (episode: Episode) => TaskScore | null {
  const { success = 1, perCall = 0, perInvalidCall = 0, brokenOff = 0 } = settings
  return (episode) => {
    if (episode.success === null) return null
    const parts = {
      success: episode.success ? success : 0,
      calls: episode.success ? perCall * episode.usage.calls : 0,
      invalidCalls: episode.success ? perInvalidCall * episode.usage.invalidCalls : 0,
      brokenOff: episode.status === 'failed' ? brokenOff : 0,
    }
    return { value: parts.success + parts.calls + parts.invalidCalls + parts.brokenOff, parts }
  }
}

interface TaskScore {
  value: number
  parts: Record<'success' | 'calls' | 'invalidCalls' | 'brokenOff', number>
}

/**
 * The score from the judge of the environment or of the agent. Without such a score, 1 for success and 0 for failure.
 *
 * @example trainAgent({ ...options, reward: judgedReward() })
 */
export function judgedReward(): (episode: Episode) => number | null {
  return ({ success, rewards }) =>
    success === null ? null : (rewards.find(({ name }) => name === 'score')?.value ?? Number(success))
}

/**
 * A reward from scores that exist already, by episode id: from a reward model that reads in batches, or from a person. `null`
 * for ids without a score.
 */
export function knownReward(scores: ReadonlyMap<string, number | null>): (episode: Episode) => number | null {
  return (episode) => scores.get(episode.id) ?? null
}

type Weighted<R extends Reward> = R | { weight: number; reward: R }

/**
 * The weighted sum of named rewards. Its parts are the weighted values by name. If one reward is `null`, the sum is `null` and
 * the remaining rewards are not called: a sum over fewer parts would be a different reward. The result is a `GroupReward` if any
 * part is.
 *
 * @throws AgogeError `bad-reward` if `rewards` is empty.
 * @example compose({ task: taskReward(), brevity: { weight: 0.1, reward: (e) => -e.usage.sampledTokens / 100 } })
 */
export function compose<Part extends string>(
  rewards: Record<Part, Weighted<RewardFunction>>,
): RewardFunction<Part>
export function compose<Part extends string>(rewards: Record<Part, Weighted<Reward>>): GroupReward<Part>
export function compose<Part extends string>(rewards: Record<Part, Weighted<Reward>>): Reward<Part> {
  const entries = Object.entries<Weighted<Reward>>(rewards).map(([name, entry]) => ({
    name: name as Part,
    ...('reward' in entry ? entry : { weight: 1, reward: entry }),
  }))
  if (entries.length === 0)
    throw new AgogeError('compose needs at least one reward', {
      code: 'bad-reward',
      given: rewards,
      expected: 'a record of rewards by name',
    })
  const scoreGroup: GroupReward<Part>['scoreGroup'] = async (episodes, context) => {
    const sums = episodes.map(() => ({ value: 0, parts: {} as Partial<Record<Part, number>> }))
    const unjudged = new Map<number, string | undefined>()
    for (const { name, weight, reward } of entries) {
      const left = episodes.map((_, i) => i).filter((i) => !unjudged.has(i))
      const asked = left.map((i) => episodes[i])
      const given =
        typeof reward === 'function'
          ? await Promise.all(asked.map(async (episode) => reward(episode, context)))
          : asked.length === 0
            ? []
            : await reward.scoreGroup(asked, context)
      given.forEach((one, at) => {
        const scored = readScore(one, `episode ${asked[at].id} (${name})`)
        const sum = sums[left[at]]
        if (scored.value === null) unjudged.set(left[at], scored.reason)
        else sum.value += sum.parts[name] = weight * scored.value
      })
    }
    return sums.map((sum, i) =>
      unjudged.has(i) ? { value: null, reason: unjudged.get(i) ?? 'a part could not be judged' } : sum,
    )
  }
  if (entries.some(({ reward }) => typeof reward !== 'function')) return { scoreGroup }
  return async (episode, context) => (await scoreGroup([episode], context))[0]
}

/** One criterion of a rubric. */
export interface Criterion {
  /** Points; not 0. Negative for something that should not occur. */
  weight: number
  /** How far the episode meets the criterion: 0 to 1, or a boolean. `null` if that cannot be judged. */
  meets: (
    episode: Episode,
    context: RewardContext,
  ) => boolean | number | null | Promise<boolean | number | null>
}

/**
 * A rubric: weighted criteria by name. The reward is the points earned, divided by the points that can be earned, clipped to 0
 * to 1. Its parts are the share of each criterion. If one criterion is `null`, so is the reward. `judgeReward` asks a model
 * instead.
 *
 * Sources: HealthBench (arXiv 2505.08775), section 3; Rubrics as Rewards (arXiv 2507.17746), eq. 1.
 *
 * @throws AgogeError if no criterion has a positive weight, or if `meets` returns a number outside 0 to 1.
 * @example rubricReward({ right: { weight: 5, meets: (e) => e.success }, rambles: { weight: -1, meets: (e) => e.usage.sampledTokens > 200 } })
 */
export function rubricReward<Part extends string>(criteria: Record<Part, Criterion>): RewardFunction<Part> {
  const entries = Object.entries<Criterion>(criteria) as [Part, Criterion][]
  const most = entries.reduce((sum, [, { weight }]) => sum + Math.max(0, weight), 0)
  if (!(most > 0) || entries.some(([, { weight }]) => weight === 0 || !Number.isFinite(weight)))
    throw new AgogeError('A rubric needs at least one criterion with a positive weight', {
      code: 'bad-reward',
      given: Object.fromEntries(entries.map(([name, { weight }]) => [name, weight])),
      expected: 'finite weights, none of them 0, at least one above',
    })
  return async (episode, context) => {
    const parts: Partial<Record<Part, number>> = {}
    let points = 0
    for (const [name, { weight, meets }] of entries) {
      const met = await meets(episode, context)
      if (met === null) return { value: null, reason: `the criterion ${name} could not be judged` }
      const share = Number(met)
      if (!(share >= 0 && share <= 1))
        throw new AgogeError(`The criterion ${name} was met by ${share}`, {
          code: 'bad-reward',
          given: share,
          expected: 'a number from 0 to 1, true, false, or null if it cannot be judged',
        })
      points += parts[name] = (weight * share) / most
    }
    return { value: Math.min(1, Math.max(0, points)), parts }
  }
}

/** Combines the scores of steps into one: their product, minimum, mean, or last. */
export type StepAggregate = 'product' | 'min' | 'mean' | 'last'

/**
 * A process reward. Scores each output of the policy as one step and combines the scores with `aggregate`. Default: `product`.
 * Its parts are `step:0`, `step:1`, ... The reward is `null` if any step is, or if there is no step.
 *
 * Sources: product: "Let's Verify Step by Step" (arXiv 2305.20050); min: Math-Shepherd (arXiv 2312.08935).
 *
 * @param scoreStep scores the n-th output, usually a probability.
 */
export function stepReward(
  scoreStep: (
    episode: Episode,
    step: number,
    context: RewardContext,
  ) => number | null | Promise<number | null>,
  settings: { aggregate?: StepAggregate } = {},
): RewardFunction<`step:${number}`> {
  const { aggregate = 'product' } = settings
  return async (episode, context) => {
    const scores: number[] = []
    for (let step = 0; step < episode.samples.length; step++) {
      const score = await scoreStep(episode, step, context)
      if (score === null) return { value: null, reason: `step ${step} could not be judged` }
      scores.push(score)
    }
    if (scores.length === 0) return { value: null, reason: 'the model said nothing' }
    const parts = Object.fromEntries(scores.map((score, step) => [`step:${step}`, score]))
    return { value: aggregated(scores, aggregate), parts }
  }
}

function aggregated(scores: readonly number[], aggregate: StepAggregate): number {
  if (aggregate === 'min') return Math.min(...scores)
  if (aggregate === 'last') return scores[scores.length - 1]
  if (aggregate === 'product') return scores.reduce((product, score) => product * score, 1)
  return scores.reduce((sum, score) => sum + score, 0) / scores.length
}

/**
 * The rank within the group: 1 for the best episode by `reward`, 0 for the worst. Ties share the mean of their ranks; if all are
 * equal, each gets 0.5. The scale of `reward` has no effect. Its part `score` is the value of `reward`.
 *
 * @example compose({ task: taskReward(), brevity: { weight: 0.1, reward: rankReward((e) => -e.usage.sampledTokens) } })
 */
export function rankReward(reward: RewardFunction): GroupReward<'score'> {
  return {
    async scoreGroup(episodes, context) {
      const scores = await Promise.all(
        episodes.map(async (episode) => readScore(await reward(episode, context), `episode ${episode.id}`)),
      )
      const values = scores.flatMap(({ value }) => (value === null ? [] : [value]))
      return scores.map((scored) =>
        scored.value === null
          ? scored
          : { value: rankOf(scored.value, values), parts: { score: scored.value } },
      )
    },
  }
}

/** The share of the other values that are lower; ties count half. 0.5 if there are no others. */
export function rankOf(value: number, values: readonly number[]): number {
  if (values.length < 2) return 0.5
  const worse = values.filter((other) => other < value).length
  const equal = values.filter((other) => other === value).length - 1
  return (worse + equal / 2) / (values.length - 1)
}
