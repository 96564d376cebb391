import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { forEachBounded } from '../agent/bounded.ts'
import { readScore } from '../episode/score.ts'
import type { Score, Scored, Unscored } from '../episode/score.ts'
import type { Episode } from '../episode/types.ts'
import { InfrastructureError } from '../tool/tool.ts'

/** What a reward is given besides the episodes. */
export interface RewardContext {
  /** Aborted when the run is. */
  signal: AbortSignal
}

/**
 * What an episode was worth. The same function trains, evaluates and selects. It may be asynchronous, and training calls it once an
 * episode. `null` says that the episode could not be judged: it enters neither a gradient nor a mean. An `InfrastructureError` that it
 * throws means the same; any other error ends the run.
 *
 * @example const brief: RewardFunction = (episode) => (episode.success === null ? null : 1 / (1 + episode.usage.calls))
 */
export type RewardFunction<Part extends string = string> = (
  episode: Episode,
  context: RewardContext,
) => Score<Part> | Promise<Score<Part>>

/**
 * A reward that sees all episodes of one task together, such as their ranks or a judge that compares answers. It is called once a group,
 * with its episodes that are not masked, and gives one score for each, in their order.
 *
 * @example const shortest: GroupReward = { scoreGroup: (episodes) => {
 *   const least = Math.min(...episodes.map((episode) => episode.usage.sampledTokens))
 *   return episodes.map((episode) => Number(episode.usage.sampledTokens === least))
 * } }
 */
export interface GroupReward<Part extends string = string> {
  scoreGroup: (
    episodes: readonly Episode[],
    context: RewardContext,
  ) => readonly Score<Part>[] | Promise<readonly Score<Part>[]>
}

/** A reward of one episode, or of a group. */
export type Reward<Part extends string = string> = RewardFunction<Part> | GroupReward<Part>

/** Scores that an earlier process was given, by episode: none is asked for twice. */
export interface ScoreJournal {
  get: (episode: Episode) => Scored | Unscored | undefined
  put: (episode: Episode, score: Scored | Unscored) => void
}

export interface ScoringOptions {
  /** Under which the scores are kept in the episodes. Default `reward`. */
  name?: string
  /** Episodes (of a `GroupReward`: groups) that are judged at the same time. Default 16. */
  concurrency?: number
  /** Keeps the scores that took time, for a process that resumes. */
  journal?: ScoreJournal
  signal?: AbortSignal
}

/**
 * The score of one episode; masked episodes have none. Calls the reward each time, and keeps nothing.
 *
 * @throws AgogeError `bad-reward` where the reward gives something that is no score.
 * @example (await score(taskReward({ perCall: -0.02 }), episode)).value
 */
export async function score<Part extends string>(
  reward: Reward<Part>,
  episode: Episode,
  { signal = never }: { signal?: AbortSignal } = {},
): Promise<Scored<Part> | Unscored> {
  if (episode.status === 'masked') return maskedEpisode
  const { scores } = await judge(reward, [episode], { signal })
  return scores[0]
}

/**
 * Scores groups of episodes and keeps the scores in `rewards` of the episodes, with their parts as `NAME:PART`. An episode that has a score
 * of this name keeps it, and the reward is not called for it (a `GroupReward`: not where all of its group have one).
 *
 * @returns one value for each episode, `null` where it is masked or could not be judged.
 * @throws AgogeError `bad-reward` as `score` does, or where a group reward gives another number of scores.
 */
export async function scoreGroups(
  reward: Reward,
  groups: readonly (readonly Episode[])[],
  options: ScoringOptions = {},
): Promise<(number | null)[][]> {
  const { name = 'reward', concurrency = 16, journal, signal = never } = options
  const units = typeof reward === 'function' ? groups.flat().map((episode) => [episode]) : groups
  await forEachBounded(units, concurrency, async (unit) => {
    const open = unit.filter((episode) => episode.status !== 'masked')
    if (open.every((episode) => recordedScore(episode, name) !== undefined)) return
    const known = open.map((episode) => journal?.get(episode))
    if (known.every((scored) => scored !== undefined)) {
      open.forEach((episode, i) => keep(episode, name, known[i]))
      return
    }
    signal.throwIfAborted()
    const { scores, waited } = await judge(reward, open, { signal })
    open.forEach((episode, i) => {
      if (recordedScore(episode, name) === undefined) keep(episode, name, scores[i])
      if (waited) journal?.put(episode, scores[i])
    })
  })
  return groups.map((group) => group.map((episode) => recordedScore(episode, name)?.value ?? null))
}

/** The score that an episode was given under this name, `undefined` where it was not asked for. */
export function recordedScore(
  { rewards }: Pick<Episode, 'rewards'>,
  name = 'reward',
): Scored | Unscored | undefined {
  const found = rewards.find((reward) => reward.name === name && reward.sample === undefined)
  if (found === undefined) return undefined
  const reason = found.reason === undefined ? {} : { reason: found.reason }
  if (found.value === null) return { value: null, ...reason }
  const parts = rewards.flatMap((part) =>
    part.name.startsWith(`${name}:`) && part.value !== null
      ? [[part.name.slice(name.length + 1), part.value]]
      : [],
  )
  return { value: found.value, parts: Object.fromEntries(parts) as Record<string, number>, ...reason }
}

function keep({ rewards }: Episode, name: string, { value, parts = {}, reason }: Scored | Unscored): void {
  rewards.push({ agent: 'agent', name, value, ...defined({ reason }) })
  for (const [part, amount] of Object.entries<number | undefined>(parts))
    if (amount !== undefined) rewards.push({ agent: 'agent', name: `${name}:${part}`, value: amount })
}

async function judge<Part extends string>(
  reward: Reward<Part>,
  episodes: readonly Episode[],
  context: RewardContext,
): Promise<{ scores: (Scored<Part> | Unscored)[]; waited: boolean }> {
  try {
    const pending =
      typeof reward === 'function' ? reward(episodes[0], context) : reward.scoreGroup(episodes, context)
    const waited = pending instanceof Promise
    const found = await pending
    const given = (typeof reward === 'function' ? [found] : found) as readonly Score<Part>[]
    if (given.length !== episodes.length) throw wrongCount(given.length, episodes.length)
    return { scores: given.map((one, i) => readScore(one, `episode ${episodes[i].id}`)), waited }
  } catch (error) {
    context.signal.throwIfAborted()
    if (!(error instanceof InfrastructureError)) throw error
    return { scores: episodes.map(() => ({ value: null, reason: error.message })), waited: true }
  }
}

function wrongCount(given: number, expected: number): AgogeError {
  return new AgogeError('A group reward gave another number of scores than there are episodes', {
    code: 'bad-reward',
    given,
    expected: `${expected} scores, null for an episode that cannot be judged`,
  })
}

const never = new AbortController().signal
const maskedEpisode: Unscored = { value: null, reason: 'the episode is masked' }
