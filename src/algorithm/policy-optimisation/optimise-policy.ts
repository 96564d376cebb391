import { AgogeError } from '../../error.ts'
import { linearise } from '../../episode/linearise.ts'
import type { Episode, TrainingSequence } from '../../episode/types.ts'
import { isUniform } from '../advantages/index.ts'
import { tokenWeights } from '../losses/index.ts'
import { trainedTokens } from '../trained-tokens.ts'
import type { Algorithm, LearningContext, PolicyUpdate } from '../types.ts'
import { advantagesOf } from './advantages-of.ts'
import type { Credit } from './advantages-of.ts'
import { addReferences, memberGroups } from './batch.ts'
import type { Member, MemberGroup } from './batch.ts'
import { adaptKl, currentEntropy, currentKl } from './coefficients.ts'
import type { CurrentSettings } from './coefficients.ts'
import { correctWeights } from './correct-weights.ts'
import { askCredits } from './credit-function.ts'
import { keepUndecided } from './keep-undecided.ts'
import { lossOf, movesWithoutAdvantage } from './loss-of.ts'
import type { PolicySettings } from './settings.ts'
import { shapeRewards } from './shape-rewards.ts'
import { rewardedTurns } from './turn-credit.ts'

/**
 * The algorithm that the settings describe: rewards are shaped, become advantages, and these go to every token that the policy
 * chose, into the loss. The batch that statistics are taken over is what one update is given. Episodes without advantage
 * count in the normaliser and are computed only where the loss moves them all the same (a divergence in the loss, Kimi's).
 *
 * @example
 * await train({ world, tasks, algorithm: optimisePolicy({ ...policyPresets.gspo.settings, kl: { place: 'loss', estimator: 'k2', coefficient: 0.01 } }) })
 */
export function optimisePolicy(settings: PolicySettings): Algorithm {
  const { aggregation, shaping, imitation = 0, corrections = [], entropyShare } = settings
  checkShare('imitation', imitation)
  if (entropyShare !== undefined) checkShare('entropyShare', entropyShare)
  checkDivergence(settings)
  const own: Record<string, number> = {}
  return async (groups, context): Promise<PolicyUpdate> => {
    const memory = context.memory ?? own
    const batch = memberGroups(groups)
    const kl = currentKl(settings.kl, memory)
    if (kl !== undefined) await addReferences(batch, (sequences) => context.reference(sequences))
    const divergence = adaptKl(batch, kl, memory)
    for (const group of batch) shapeRewards(group, shaping ?? {}, kl)
    const { credits, metrics } = await creditsOf(batch, settings.advantage, kl, context)
    const weights = tokenWeights(
      batch.flatMap(({ members }) => members.map(({ length }) => length)),
      aggregation,
    )
    const entropy = currentEntropy(batch, settings, memory)
    const current = withCoefficients(settings, kl, entropy.coefficients)
    const everything = movesWithoutAdvantage(current)
    let rows: PlacedRow[] = []
    let at = 0
    for (const [g, { members }] of batch.entries())
      for (const [m, member] of members.entries()) {
        const weight = weights[at++] * (1 - imitation)
        if (everything || entropyShare !== undefined || hasSignal(credits[g][m]))
          rows.push(...placed(member, credits[g][m], weight, kl))
      }
    const undecided =
      entropyShare === undefined
        ? {}
        : await keepUndecided(
            rows.map(({ sequence }) => sequence),
            entropyShare,
            context,
          )
    if (!everything) rows = rows.filter(({ sequence }) => hasSignal(sequence.advantages))
    const sequences = rows.map(({ sequence }) => sequence)
    const corrected =
      corrections.length === 0 || sequences.length === 0
        ? {}
        : correctWeights(sequences, await context.trainer(sequences), corrections)
    const shown = imitation === 0 ? [] : imitated(context, imitation)
    const references = rows.map(({ references }) => references)
    const all = [...sequences, ...shown]
    const silent = batch.filter(({ members }) => isUniform(members.map(({ reward }) => reward))).length
    return {
      sequences: all,
      loss: lossOf(current, [...references, ...shown.map(({ tokens }) => new Float32Array(tokens.length))]),
      metrics: {
        groupsWithoutSignal: batch.length === 0 ? 0 : silent / batch.length,
        ...metrics,
        ...divergence,
        ...entropy.metrics,
        ...undecided,
        ...corrected,
      },
    }
  }
}

function withCoefficients(
  settings: PolicySettings,
  kl: PolicySettings['kl'],
  bonuses: Pick<CurrentSettings, 'entropy' | 'exactEntropy'>,
): CurrentSettings {
  const { entropy: _, exactEntropy: __, ...others } = settings
  return { ...others, ...(kl === undefined ? {} : { kl }), ...bonuses }
}

async function creditsOf(
  batch: readonly MemberGroup[],
  advantage: PolicySettings['advantage'],
  kl: PolicySettings['kl'],
  context: LearningContext,
): Promise<{ credits: Credit[][]; metrics: Record<string, number> }> {
  if (typeof advantage === 'function') return askCredits(batch, advantage, context)
  const byTurns = ['turn-level', 'turn-return', 'step-group'].includes(advantage.name)
  const metrics = byTurns ? { rewardedTurns: rewardedTurns(batch) } : {}
  return { credits: advantagesOf(batch, advantage, kl), metrics }
}

const hasSignal = (credit: Credit): boolean =>
  typeof credit === 'number' ? credit !== 0 : credit.some((value) => value !== 0)

interface PlacedRow {
  sequence: TrainingSequence
  /** Log-probabilities of its trained tokens under the reference; zeros where none was asked. */
  references: Float32Array
}

/** The rows of a member with its advantages and weights. */
function placed(
  { rows, referenceLogprobs }: Member,
  credit: Credit,
  weight: number,
  kl: PolicySettings['kl'],
): PlacedRow[] {
  return rows.map(({ sequence, places }) => {
    const references = new Float32Array(places.length)
    places.forEach((place, t) => {
      if (place < 0) return
      sequence.advantages[t] = typeof credit === 'number' ? credit : credit[place]
      sequence.weights.rl[t] = weight
      if (kl?.place === 'loss') sequence.weights.kl[t] = kl.coefficient * weight
      references[t] = referenceLogprobs[place] ?? 0
    })
    return { sequence, references }
  })
}

/** Demonstrations as rows whose weights add up to the share of imitation. */
function imitated({ demonstrations }: LearningContext, share: number): TrainingSequence[] {
  if (demonstrations.length === 0)
    throw new AgogeError('There are no demonstrations to imitate', {
      code: 'bad-config',
      given: { imitation: share, demonstrations: 0 },
      expected: 'demonstrations for every update',
      hint: 'Set demonstrations in the plan of reinforcement, or imitation: 0',
    })
  const weights = tokenWeights(demonstrations.map(trainedTokens), { mode: 'token-mean' })
  return demonstrations.flatMap((episode: Episode, i) =>
    linearise(episode, () => ({ advantage: 0, weights: { ce: share * weights[i] } })),
  )
}

/** A divergence in the reward makes it negative, where MaxRL sees nothing: it would be paid by successes alone. */
function checkDivergence({ advantage, kl }: PolicySettings): void {
  if (typeof advantage !== 'function' && advantage.name === 'maxrl' && kl?.place === 'reward')
    throw new AgogeError('maxrl cannot pay for a divergence in the reward', {
      code: 'bad-config',
      given: { advantage: 'maxrl', kl },
      expected: 'rewards that stand for success, of 0 or more',
      hint: "Put the divergence into the loss: kl: { place: 'loss', ... }",
    })
}

function checkShare(name: string, share: number): void {
  if (share >= 0 && share <= 1) return
  throw new AgogeError(`${name} is not a share`, {
    code: 'bad-config',
    given: share,
    expected: 'a number from 0 to 1',
  })
}
