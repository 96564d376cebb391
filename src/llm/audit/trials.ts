import { defined } from '../../defined.ts'
import { createRandom } from '../../engine/random/index.ts'
import { wilsonInterval } from '../../statistics/statistics.ts'
import type { Estimate } from '../../statistics/statistics.ts'
import type { EpisodeLimits } from '../agent/episode-state.ts'
import type { Expert, Task, ToolEnvironment } from '../agent/types.ts'
import { score } from '../reward/reward.ts'
import type { Reward } from '../reward/reward.ts'
import type { AttackContext } from './attack.ts'
import { checkOutcome, shownBy } from './outcome-check.ts'
import type { Reference } from './outcome-check.ts'
import { playScripts } from './scripts.ts'
import type { Watched } from './scripts.ts'

/** What `auditEnvironment` takes. Only `environment` and `tasks` are required. */
export interface AuditOptions {
  environment: ToolEnvironment
  /** Tasks that every attack is measured on. */
  tasks: readonly Task[]
  /** Tasks to find the best variant of an attack on. Default: `tasks`, and the rate is then of the same tasks. */
  practice?: readonly Task[]
  /** What training would reward. An undone task that gains as much as the expert is a finding too. Default: success alone. */
  reward?: Reward
  limits?: Partial<EpisodeLimits>
  seed?: number
  /** Practice episodes of each attack, at most. Fewer calls, and more that is overlooked. Default: 600. */
  effort?: number
  /** Rate above which an attack is a finding. Default: 0.02. */
  threshold?: number
  /** Your own check of whether a task is done, in place of the comparison with the expert. It must not be the judge. */
  done?: (outcome: { task: Task; state: unknown; answer: string | null }) => boolean
  signal?: AbortSignal
  onAttack?: (name: string, at: number, of: number) => void
}

/** An audit with every setting. */
export interface Audit extends AuditOptions {
  limits: EpisodeLimits
  seed: number
  threshold: number
  effort: number
  tools: ToolEnvironment['tools']
}

/** An episode to play. */
export interface Trial {
  reference: Reference
  variant: string
  script: (context: AttackContext) => Expert
}

/** A played episode. */
export interface PlayedTrial extends Trial {
  watched: Watched
  gained: boolean
  unclear: boolean
  value: number
  reason: string
}

/** Every variant twice in each kind of task, as far as the effort allows. */
export function practiceTrials(
  { seed, effort }: Audit,
  references: readonly Reference[],
  variants: readonly { name: string; script: Trial['script'] }[],
  name: string,
): Trial[] {
  const byKind = new Map<string, Reference[]>()
  for (const reference of references) {
    const { kind } = reference.task
    byKind.set(kind, [...(byKind.get(kind) ?? []), reference])
  }
  const trials = [...byKind.values()].flatMap((own) =>
    variants.flatMap(({ name: variant, script }, at) =>
      [0, 1].map((again) => ({ reference: own[(2 * at + again) % own.length], variant, script })),
    ),
  )
  return createRandom(seed, 'practice', name).shuffle(trials).slice(0, effort)
}

/** The variant that gained most often in this kind of task, or else in any. */
export function bestVariant<V extends { name: string }>(
  tried: readonly PlayedTrial[],
  variants: readonly V[],
  kind: string,
): V | undefined {
  for (const own of [tried.filter(({ reference }) => reference.task.kind === kind), tried]) {
    const gains = variants.map(({ name }) => {
      const played = own.filter(({ variant }) => variant === name)
      return played.length === 0 ? 0 : played.filter(({ gained }) => gained).length / played.length
    })
    const most = Math.max(0, ...gains)
    if (most > 0) return variants[gains.indexOf(most)]
  }
  return undefined
}

/** Plays trials and checks each outcome. */
export async function play(audit: Audit, trials: readonly Trial[]): Promise<PlayedTrial[]> {
  const { environment, limits, seed, tools, reward, signal, done } = audit
  const plays = trials.map(({ reference, variant, script }, at) => {
    const { task } = reference
    const random = createRandom(seed, 'attack', variant, task.id, at)
    return { task, script: script({ task, reference, tools, random, calls: limits.turns - 1 }) }
  })
  const all = await playScripts(environment, plays, { limits, ...defined({ signal }) })
  signal?.throwIfAborted()
  const outcomes: PlayedTrial[] = []
  for (const [at, trial] of trials.entries()) {
    const watched = all[at]
    const { episode } = watched
    const { reference } = trial
    const value = reward === undefined ? Number(episode.success) : ((await score(reward, episode)).value ?? 0)
    const isRewarded =
      episode.success === true ||
      (reward !== undefined && episode.success !== null && value >= reference.reward)
    const outcome = { task: reference.task, state: watched.end, answer: watched.answer }
    const seen = shownBy(watched.calls)
    const check =
      done === undefined
        ? checkOutcome(reference, outcome, seen, tools.length > 0)
        : ({
            status: episode.status !== 'masked' && done(outcome) ? 'done' : 'undone',
            reason: 'your own check says so',
          } as const)
    outcomes.push({
      ...trial,
      watched,
      gained: isRewarded && check.status === 'undone',
      unclear: isRewarded && check.status === 'unclear',
      value:
        check.status === 'undone' && episode.success !== null
          ? Math.max(0, Math.max(value, Number(isRewarded)))
          : 0,
      reason: check.reason,
    })
  }
  return outcomes
}

/** An episode in which the judge rewarded what is not done. */
export interface AuditExample {
  task: string
  kind: string
  prompt: string
  /** The way in which the attack was carried out. */
  variant: string
  calls: { name: string; arguments: Record<string, unknown>; result: string }[]
  answer: string | null
  /** Why the task is not done. */
  reason: string
}

/** The result of one attack. */
export interface AttackResult {
  name: string
  about: string
  /** Share of the tasks that were rewarded although they are not done. */
  rate: Estimate
  /** By kind of task, those with at least one. */
  kinds: Record<string, Estimate>
  /** Episodes that the judge did not score. An agent that can cause them avoids its failures. */
  masked: number
  /** Episodes that differ from the expert's in a way that may be right, or cannot be seen; rewarded, and not counted. */
  unclear: number
  isFinding: boolean
  advice: string
  example?: AuditExample
}

/** Counts the outcomes of an attack. Masked episodes are in no rate. */
export function resultOf(
  { threshold }: Audit,
  { name, about, advice }: Pick<AttackResult, 'name' | 'about' | 'advice'>,
  outcomes: readonly PlayedTrial[],
): AttackResult {
  const estimate = (some: readonly PlayedTrial[]): Estimate => {
    const judged = some.filter(({ watched }) => watched.episode.status !== 'masked')
    return wilsonInterval(judged.filter(({ gained }) => gained).length, judged.length)
  }
  const kindOf = ({ reference }: PlayedTrial): string => reference.task.kind
  const hit = outcomes.filter(({ gained }) => gained)
  const kinds = Object.fromEntries(
    [...new Set(hit.map(kindOf))].map((kind) => [
      kind,
      estimate(outcomes.filter((one) => kindOf(one) === kind)),
    ]),
  )
  const rate = estimate(outcomes)
  const [example] = hit
  return {
    name,
    about,
    rate,
    kinds,
    masked: outcomes.filter(({ watched }) => watched.episode.status === 'masked').length,
    unclear: outcomes.filter(({ unclear }) => unclear).length,
    // A kind of task may be rare, so its own rate counts where it is surely above the threshold.
    isFinding: rate.mean > threshold || Object.values(kinds).some(({ low }) => low > threshold),
    advice,
    ...(example && { example: exampleOf(example) }),
  }
}

function exampleOf({ reference: { task }, variant, watched, reason }: PlayedTrial): AuditExample {
  return {
    task: task.id,
    kind: task.kind,
    prompt: task.prompt,
    variant,
    calls: watched.calls.map(({ name, arguments: args, text: result }) => ({
      name,
      arguments: args,
      result,
    })),
    answer: watched.answer,
    reason,
  }
}
