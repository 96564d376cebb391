import { AgogeError } from '../../../error.ts'
import { readScore, rewardsOfScore, type Score, type Scored, type Unscored } from '../../episode/score.ts'
import { InfrastructureError } from '../../tool/tool.ts'
import { type AnyScorer, isGroupScorer, type ScoringContext, type Trial } from '../config.ts'

/** A scorer with what it gets besides trials. */
export interface OpenedScorer {
  name: string
  scorer: AnyScorer
  context: ScoringContext
}

/** @throws AgogeError `bad-config` for scorers that compare the trials of a task, where trials are made one by one. */
export function refuseGroups(scorers: readonly OpenedScorer[], verb: string): void {
  const group = scorers.find(({ scorer }) => isGroupScorer(scorer))
  if (group === undefined) return
  throw new AgogeError(`${verb} cannot score with ${group.name}`, {
    code: 'bad-config',
    given: `${group.name}, which compares the trials of a task`,
    expected: 'scorers of single trials, such as rubric() or answerMatches()',
  })
}

/** The scores of a trial by scorer. */
export type TrialScores = Record<string, number | null>

/**
 * Asks the scorers of single trials. A scorer that cannot judge, or whose own service fails, masks the trial.
 *
 * @throws AgogeError `bad-reward` if a scorer returns something that is not a score; any other error that a scorer throws.
 */
export async function scoreTrial(trial: Trial, scorers: readonly OpenedScorer[]): Promise<TrialScores> {
  const scores: TrialScores = {}
  if (trial.status !== 'ok') return scores
  for (const { name, scorer, context } of scorers) {
    if (isGroupScorer(scorer)) continue
    const score = await asked(async () => scorer(trial, context), context.signal)
    keep(trial, scores, { name, scorer }, readScore(score, `trial ${trial.id}`))
  }
  return scores
}

/**
 * Asks the scorers of groups with the trials of a task that are not masked, and adds what they find to the scores.
 *
 * @throws AgogeError `bad-reward` also for a wrong number of scores.
 */
export async function scoreGroup(
  group: readonly { trial: Trial; scores: TrialScores }[],
  scorers: readonly OpenedScorer[],
): Promise<void> {
  for (const { name, scorer, context } of scorers) {
    if (!isGroupScorer(scorer)) continue
    const open = group.filter(({ trial }) => trial.status === 'ok')
    if (open.length === 0) return
    const given = await asked(
      async () =>
        scorer.scoreGroup(
          open.map(({ trial }) => trial),
          context,
        ),
      context.signal,
    )
    const found = isUnscored(given) ? open.map(() => given) : given
    if (found.length !== open.length)
      throw new AgogeError(`The scorer ${name} must return one score per trial`, {
        code: 'bad-reward',
        given: found.length,
        expected: `${open.length} scores, null for a trial that cannot be judged`,
      })
    for (const [at, { trial, scores }] of open.entries())
      keep(trial, scores, { name, scorer }, readScore(found[at], `trial ${trial.id}`))
  }
}

const isUnscored = (given: readonly Score[] | Unscored): given is Unscored => 'value' in given

/** Decides what the trial came to, once all scorers were asked. */
export function settle(trial: Trial, scores: TrialScores, scorers: readonly OpenedScorer[]): void {
  if (trial.status === 'ok')
    trial.success = scorers.every(({ name, scorer: { passAt = 1 } }) => (scores[name] ?? 0) >= passAt)
}

function keep(
  trial: Trial,
  scores: TrialScores,
  { name }: Pick<OpenedScorer, 'name' | 'scorer'>,
  score: Scored | Unscored,
): void {
  scores[name] = score.value
  const { reason } = score
  trial.rewards.push(
    ...rewardsOfScore(score, 'agent').map((reward) => ({ ...reward, name: `${name}:${reward.name}` })),
    { agent: 'agent', name, value: score.value, ...(reason !== undefined && { reason }) },
  )
  if (score.value !== null) return
  trial.status = 'masked'
  const said = `${name}: ${reason ?? 'it could not be judged'}`
  trial.error = trial.error === undefined ? said : `${trial.error}; ${said}`
}

/** A fault of the scorer's own service is no score. */
async function asked<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | Unscored> {
  try {
    return await work()
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof InfrastructureError)) throw error
    return { value: null, reason: error.message }
  }
}
