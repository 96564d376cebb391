import { AgogeError } from '../../error.ts'
import { readScore } from '../episode/score.ts'
import type { Episode } from '../episode/types.ts'
import type { GroupReward, Reward, RewardContext, RewardFunction } from './reward.ts'

/** Value of each event; missing ones count nothing. */
export interface TaskRewardSettings {
  /** Once, where the environment's own check says that the task is done. Default 1. */
  success?: number
  /** For every call of an episode that succeeded; negative to make the policy brief. */
  perCall?: number
  /** In addition, for every call of a success that could not be understood or does not fit the tool's schema. */
  perInvalidCall?: number
  /** When the policy broke off by itself (turn or token limit) instead of answering. */
  brokenOff?: number
}

/**
 * Success as the environment judges it, less small costs. Partial goals are not rewarded: the policy would learn to do the easy half.
 * Costs are taken from successes only: where a whole group fails, a cost of calls would be all that its members differ in, and the policy
 * would learn to fail without trying. Keep them small: a success must always be worth more than any failure.
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
 * What the judge of the environment or of the agent gave: its score where it gave one between failure and success, else 1 or 0.
 *
 * @example trainAgent({ ...options, reward: judgedReward() })
 */
export function judgedReward(): (episode: Episode) => number | null {
  return ({ success, rewards }) =>
    success === null ? null : (rewards.find(({ name }) => name === 'score')?.value ?? Number(success))
}

/**
 * The reward of episodes that something else has judged, by their id: a reward model that reads many at once, a person. `null` for
 * those that it did not judge.
 */
export function knownReward(scores: ReadonlyMap<string, number | null>): (episode: Episode) => number | null {
  return (episode) => scores.get(episode.id) ?? null
}

type Weighted<R extends Reward> = R | { weight: number; reward: R }

/**
 * The weighted sum of named rewards. Its parts are the weighted values by name. One part that cannot be judged (`null`) leaves the whole
 * unjudged, since a sum over what happened to be judged would be another reward; parts after it are not asked. With a `GroupReward` among
 * them it is one.
 *
 * @throws AgogeError `bad-reward` where there is no reward.
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

/** One thing that is looked for in an episode. */
export interface Criterion {
  /** Points, not 0. Negative for what should not be there. */
  weight: number
  /** How far it is met, 0 to 1 (or yes and no); `null` = cannot be judged. */
  meets: (
    episode: Episode,
    context: RewardContext,
  ) => boolean | number | null | Promise<boolean | number | null>
}

/**
 * A rubric: weighted criteria by name. The value is the points that were got over those that can be got, clipped to 0 to 1; its
 * parts are the share of each criterion. One that cannot be judged leaves the whole unjudged. `judgeReward` asks a model instead.
 *
 * Sources: HealthBench (arXiv 2505.08775), section 3; Rubrics as Rewards (arXiv 2507.17746), eq. 1.
 *
 * @throws AgogeError where no criterion has a weight above 0, or one meets something outside of 0 to 1.
 * @example rubric({ right: { weight: 5, meets: (e) => e.success }, rambles: { weight: -1, meets: (e) => e.usage.sampledTokens > 200 } })
 */
export function rubric<Part extends string>(criteria: Record<Part, Criterion>): RewardFunction<Part> {
  const entries = Object.entries<Criterion>(criteria) as [Part, Criterion][]
  const most = entries.reduce((sum, [, { weight }]) => sum + Math.max(0, weight), 0)
  if (!(most > 0) || entries.some(([, { weight }]) => weight === 0 || !Number.isFinite(weight)))
    throw new AgogeError('A rubric needs criteria that can give points', {
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
          expected: 'a number from 0 to 1, true, false, or null where it cannot be judged',
        })
      points += parts[name] = (weight * share) / most
    }
    return { value: Math.min(1, Math.max(0, points)), parts }
  }
}

/** How the scores of steps become one: none may be bad, the worst counts, the mean, or the last one. */
export type StepAggregate = 'product' | 'min' | 'mean' | 'last'

/**
 * A process reward: every output of the policy is a step, scored by itself, and `aggregate` (default `product`) makes one score of them.
 * Its parts are `step:0`, `step:1` ... A step that cannot be judged leaves the episode unjudged, as does an episode without any.
 *
 * Sources: product: "Let's Verify Step by Step" (arXiv 2305.20050); min: Math-Shepherd (arXiv 2312.08935).
 *
 * @param scoreStep of the n-th output, usually a probability.
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
 * Ranks within the group: 1 for the best episode by `reward`, 0 for the worst, equal ones share the mean of their ranks, 0.5 where all are
 * equal. Only the order counts, whatever the scale of the reward. Its part `score` is what the reward gave.
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

/** The share of the others that are worse, equal ones counted half; 0.5 where there are no others. */
export function rankOf(value: number, values: readonly number[]): number {
  if (values.length < 2) return 0.5
  const worse = values.filter((other) => other < value).length
  const equal = values.filter((other) => other === value).length - 1
  return (worse + equal / 2) / (values.length - 1)
}
