import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { damagedFile, readWithChecksum, sha256, withChecksum } from '../../runs/checksums.ts'
import type { RunFolder } from '../../runs/run-folder.ts'
import { inParallel } from '../in-parallel.ts'
import { readScore } from '../episode/score.ts'
import type { Score, Scored, Unscored } from '../episode/score.ts'
import type { Episode } from '../episode/types.ts'
import { InfrastructureError } from '../tool/tool.ts'

/** What a reward receives besides the episodes. */
export interface RewardContext {
  /** Aborts when the run does. */
  signal: AbortSignal
}

/**
 * Scores an episode. The same function serves training, evaluation and selection. It may be asynchronous; training calls it once
 * per episode. `null` means that the episode could not be judged: it is left out of gradients and means. Throwing an
 * `InfrastructureError` has the same effect; any other error ends the run.
 *
 * @example const brief: RewardFunction = (episode) => (episode.success === null ? null : 1 / (1 + episode.usage.calls))
 */
export type RewardFunction<Part extends string = string> = (
  episode: Episode,
  context: RewardContext,
) => Score<Part> | Promise<Score<Part>>

/**
 * Scores all episodes of one task at once, for instance by rank or with a judge that compares answers. Called once per group
 * with the episodes that are not masked. Returns one score per episode, in the same order.
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

/** Scores from an earlier process, by episode. They are not requested again. */
export interface ScoreJournal {
  get: (episode: Episode) => Scored | Unscored | undefined
  put: (episode: Episode, score: Scored | Unscored) => void
}

/** Settings of `scoreGroups`. */
export interface ScoringOptions {
  /** The name of the scores in the episodes. Default: `reward`. */
  name?: string
  /** Episodes to judge concurrently; for a `GroupReward`, groups. Default: 16. */
  concurrency?: number
  /** Stores scores on disk, so that a resumed process does not request them again. */
  journal?: ScoreJournal
  signal?: AbortSignal
}

/**
 * The score of one episode. Masked episodes score `null`. Calls the reward every time and stores nothing.
 *
 * @throws AgogeError `bad-reward` if the reward returns something that is not a score.
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
 * Scores groups of episodes. Stores each score in the episode's `rewards`, and its parts as `NAME:PART`. Episodes that already
 * have a score of this name keep it without a call of the reward. A `GroupReward` is called unless its whole group has scores.
 *
 * @returns one value per episode; `null` if it is masked or could not be judged.
 * @throws AgogeError `bad-reward` as `score` does, or if a group reward returns the wrong number of scores.
 */
export async function scoreGroups(
  reward: Reward,
  groups: readonly (readonly Episode[])[],
  options: ScoringOptions = {},
): Promise<(number | null)[][]> {
  const { name = 'reward', concurrency = 16, journal, signal = never } = options
  const units = typeof reward === 'function' ? groups.flat().map((episode) => [episode]) : groups
  await inParallel(units, concurrency, async (unit) => {
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

/** The episode's score of this name; `undefined` if it was never scored. */
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
  return new AgogeError('A group reward must return one score per episode', {
    code: 'bad-reward',
    given,
    expected: `${expected} scores, null for an episode that cannot be judged`,
  })
}

const never = new AbortController().signal
const maskedEpisode: Unscored = { value: null, reason: 'the episode is masked' }

/**
 * A file of scores in a run folder, one line per score, appended as they arrive. A resumed process replays the episodes since
 * the last checkpoint token for token and reads their scores here. So a judge is asked only once, and a different second answer
 * cannot change the run.
 *
 * @param file path below the run folder. The caller removes it at each checkpoint.
 * @throws AgogeError `bad-run-folder` if a line of the file is damaged.
 */
export function createScoreJournal(folder: RunFolder, file: string): ScoreJournal {
  const earlier = new Map(
    folder.lines(file).map((line) => {
      const { key, score } = (readWithChecksum(line)?.fields ?? {}) as Partial<Entry>
      if (key !== undefined && score !== undefined) return [key, score] as const
      throw damagedFile(folder.file(file), { given: line.slice(0, 80), expected: 'scores of episodes' })
    }),
  )
  return {
    get: (episode) => (earlier.size === 0 ? undefined : earlier.get(keyOf(episode))),
    put: (episode, score) => folder.append(file, [withChecksum({ key: keyOf(episode), score }).trimEnd()]),
  }
}

interface Entry {
  key: string
  score: Scored | Unscored
}

/**
 * The key holds more than the id: an interrupted run that samples a batch again with newer weights reuses ids for different
 * episodes.
 */
function keyOf({ id, nodes }: Episode): string {
  return `${id} ${sha256(JSON.stringify(nodes.map(({ role, text, calls }) => [role, text, calls])))}`
}
