import { defined } from '../../../defined.ts'
import { AgogeError } from '../../../error.ts'
import { toTrainingSequences } from '../../episode/training-sequences.ts'
import type { Episode, TrainingSequence } from '../../episode/types.ts'
import { isUniform } from '../advantages/group.ts'
import { tokenWeights } from '../losses/tokens.ts'
import { trainedTokens } from '../losses/imitation.ts'
import type { AdvantageFunction, EpisodeGroup, KlSettings, LearningContext, PolicyUpdate } from '../types.ts'
import { advantages, findPart, losses } from '../catalogue.ts'
import type { PolicySettings } from '../catalogue.ts'
import type { AdvantageDefinition, LossDefinition, NamedSettings, OpenSettings } from '../define.ts'
import { checkSettings } from '../setting-fields.ts'
import { advantagesOf, askAdvantages, rewardedTurns } from './episode-advantages.ts'
import type { TurnAdvantage } from './episode-advantages.ts'
import { addReferences, correctWeights, keepHighEntropy, memberGroups, withFreshRows } from './batch.ts'
import type { Member, MemberGroup } from './batch.ts'
import {
  adaptKl,
  currentEntropy,
  currentKl,
  type CurrentSettings,
  lossOf,
  movesWithoutAdvantage,
} from './loss-of.ts'
import { completeShaping, shapeRewards } from './shape-rewards.ts'

/** An `Algorithm` whose update always returns a promise. */
export type PolicyOptimisation = (
  groups: readonly EpisodeGroup[],
  context: LearningContext,
) => Promise<PolicyUpdate>

/** Components of your own that settings select by name. */
export interface OwnParts {
  advantages?: readonly AdvantageDefinition[]
  losses?: readonly LossDefinition[]
}

/** Settings that may select components of your own by name. */
export type AnySettings = Omit<OpenSettings, 'advantage'> & { advantage: NamedSettings | AdvantageFunction }

/** The settings with the components that they select by name. */
interface Parts {
  settings: AnySettings
  /** Absent if the advantages are a function. */
  advantage: AdvantageDefinition | undefined
  loss: LossDefinition
}

/**
 * Creates the algorithm that the settings describe: it shapes rewards, turns them into advantages, and applies each
 * advantage to the loss of the tokens that the policy chose. Batch statistics are taken over `batch` of the context,
 * which can be larger than one update. Episodes with zero advantage count in the normaliser. They are computed only if
 * the loss has a gradient for them (a divergence in the loss, or Kimi's loss).
 *
 * `own`: components of your own that the settings select by name; `defineAlgorithm` passes those of the definition.
 *
 * @throws AgogeError `bad-config` if a name is unknown, or a setting is missing, unknown or out of bounds.
 * @example
 * await train({ environment, tasks, algorithm: optimisePolicy({ ...policyPresets.gspo.settings, kl: { place: 'loss', estimator: 'k2', coefficient: 0.01 } }) })
 */
export function optimisePolicy(settings: PolicySettings): PolicyOptimisation
export function optimisePolicy(settings: AnySettings, own: OwnParts): PolicyOptimisation
export function optimisePolicy(settings: AnySettings, own?: OwnParts): PolicyOptimisation {
  const parts = partsOf(settings, own)
  const { imitation = 0, entropyShare } = settings
  checkShare('imitation', imitation)
  if (entropyShare !== undefined) checkShare('entropyShare', entropyShare)
  checkDivergence(parts)
  const ownMemory: Record<string, number> = {}
  const judge = batchJudge(parts)
  return async (groups, context): Promise<PolicyUpdate> => {
    const memory = context.memory ?? ownMemory
    const judged = await judge(groups, context, memory)
    const { batch, kl } = judged
    const entropy = currentEntropy(batch, settings, memory)
    const current = withCoefficients(settings, kl, entropy.coefficients)
    const { rows, metrics: highEntropy } = await rowsToTrain(
      judged,
      settings,
      movesWithoutAdvantage(parts.loss, current),
      context,
    )
    const sequences = rows.map(({ sequence }) => sequence)
    const { sampled, metrics: corrected } = await correctRows(sequences, settings, context)
    const shown = imitation === 0 ? [] : demonstrationRows(context, imitation)
    const references = [
      ...rows.map((row) => row.references),
      ...shown.map(({ tokens }) => new Float32Array(tokens.length)),
    ]
    const zeroVariance = batch.filter(({ members }) => isUniform(members.map(({ reward }) => reward))).length
    return {
      sequences: [...sequences, ...shown],
      loss: lossOf(parts.loss, current, {
        references,
        ...(sampled === undefined ? {} : { sampled: [...sampled, ...shown.map(({ logprobs }) => logprobs)] }),
      }),
      metrics: {
        groupsWithoutSignal: batch.length === 0 ? 0 : zeroVariance / batch.length,
        ...judged.metrics,
        ...entropy.metrics,
        ...highEntropy,
        ...corrected,
      },
    }
  }
}

/** The rows of the members to train, with advantages and weights. `everything`: also those with zero advantage. */
async function rowsToTrain(
  { batch, turnAdvantages, kl }: Judged,
  { aggregation, imitation = 0, entropyShare }: AnySettings,
  everything: boolean,
  context: LearningContext,
): Promise<{ rows: PlacedRow[]; metrics: Record<string, number> }> {
  const weights = tokenWeights(
    batch.flatMap(({ members }) => members.map(({ length }) => length)),
    aggregation,
  )
  const rows: PlacedRow[] = []
  let at = 0
  for (const [g, { members }] of batch.entries())
    for (const [m, member] of members.entries()) {
      const weight = weights[at++] * (1 - imitation)
      if (everything || entropyShare !== undefined || hasSignal(turnAdvantages[g][m]))
        rows.push(...placed(member, turnAdvantages[g][m], weight, kl))
    }
  const sequences = rows.map(({ sequence }) => sequence)
  const metrics = entropyShare === undefined ? {} : await keepHighEntropy(sequences, entropyShare, context)
  return {
    rows: everything ? rows : rows.filter(({ sequence }) => hasSignal(sequence.advantages)),
    metrics,
  }
}

/** Corrects the sequences for a sampler that differs from the trainer. `sampled`: the sampler's log-probabilities. */
async function correctRows(
  sequences: readonly TrainingSequence[],
  { corrections = [] }: AnySettings,
  context: LearningContext,
): Promise<{ sampled?: Float32Array[]; metrics?: Record<string, number> }> {
  if (corrections.length === 0) return {}
  const sampled = sequences.map(({ logprobs }) => logprobs.slice())
  if (sequences.length === 0) return { sampled }
  return { sampled, metrics: { ...correctWeights(sequences, await context.trainer(sequences), corrections) } }
}

function partsOf(settings: AnySettings, own: OwnParts = {}): Parts {
  const loss = findPart<LossDefinition>('loss', settings.loss.name, losses, own.losses)
  checkSettings(`loss "${loss.name}"`, loss.settings, { ...settings.loss })
  if (typeof settings.advantage === 'function') return { settings, advantage: undefined, loss }
  const { advantage } = settings
  const found = findPart<AdvantageDefinition>('advantage', advantage.name, advantages, own.advantages)
  checkSettings(`advantage "${found.name}"`, found.settings, { ...advantage })
  return { settings, advantage: found, loss }
}

/** Groups prepared for the trainer, with shaped rewards, reference log-probabilities and advantages. */
interface Judged {
  batch: MemberGroup[]
  /** The coefficient in this update. */
  kl: KlSettings | undefined
  turnAdvantages: TurnAdvantage[][]
  metrics: Record<string, number>
}

/**
 * Shapes rewards and computes advantages. If advantages use batch statistics, the whole batch is processed at its first
 * minibatch, and each minibatch takes its part.
 */
function batchJudge(parts: Parts) {
  const { settings } = parts
  const { shaping = {} } = settings
  const wholeBatches = new WeakMap<readonly EpisodeGroup[], Promise<Judged>>()

  async function judge(
    groups: readonly EpisodeGroup[],
    context: LearningContext,
    memory: Record<string, number>,
  ): Promise<Judged> {
    const complete = completeShaping(shaping, context.tokenLimit)
    const batch = memberGroups(groups)
    const kl = currentKl(settings.kl, memory)
    if (kl !== undefined) await addReferences(batch, (sequences) => context.reference(sequences))
    const divergence = adaptKl(batch, kl, memory)
    for (const group of batch) shapeRewards(group, complete, kl)
    const { turnAdvantages, metrics } = await advantagesOfEpisode(batch, parts, kl, context)
    return { batch, kl, turnAdvantages, metrics: { ...metrics, ...divergence } }
  }

  return async (
    groups: readonly EpisodeGroup[],
    context: LearningContext,
    memory: Record<string, number>,
  ): Promise<Judged> => {
    const { batch } = context
    if (batch === undefined || parts.advantage?.over !== 'batch') return judge(groups, context, memory)
    const known = wholeBatches.get(batch)
    const judging = known ?? judge(batch, context, memory)
    if (known === undefined) wholeBatches.set(batch, judging)
    const whole = await judging
    const places = groups.map((group) => batch.indexOf(group))
    return {
      ...whole,
      batch: places.map((place) => withFreshRows(whole.batch[place])),
      turnAdvantages: places.map((place) => whole.turnAdvantages[place]),
    }
  }
}

function withCoefficients(
  settings: AnySettings,
  kl: KlSettings | undefined,
  bonuses: Pick<CurrentSettings, 'entropy' | 'exactEntropy'>,
): CurrentSettings {
  const { entropy: _, exactEntropy: __, ...others } = settings
  return { ...others, ...defined({ kl }), ...bonuses }
}

async function advantagesOfEpisode(
  batch: readonly MemberGroup[],
  { settings, advantage }: Parts,
  kl: KlSettings | undefined,
  context: LearningContext,
): Promise<{ turnAdvantages: TurnAdvantage[][]; metrics: Record<string, number> }> {
  if (advantage === undefined) return askAdvantages(batch, settings.advantage as AdvantageFunction, context)
  const metrics = advantage.per === 'turn' ? { rewardedTurns: rewardedTurns(batch) } : {}
  return { turnAdvantages: advantagesOf(batch, advantage, settings.advantage, kl), metrics }
}

const hasSignal = (turnAdvantage: TurnAdvantage): boolean =>
  typeof turnAdvantage === 'number' ? turnAdvantage !== 0 : turnAdvantage.some((value) => value !== 0)

interface PlacedRow {
  sequence: TrainingSequence
  /** Log-probabilities of its trained tokens under the reference; zeros without a reference. */
  references: Float32Array
}

/** The rows of a member with its advantages and weights. */
function placed(
  { rows, referenceLogprobs }: Member,
  turnAdvantage: TurnAdvantage,
  weight: number,
  kl: KlSettings | undefined,
): PlacedRow[] {
  return rows.map(({ sequence, places }) => {
    const references = new Float32Array(places.length)
    places.forEach((place, t) => {
      if (place < 0) return
      sequence.advantages[t] = typeof turnAdvantage === 'number' ? turnAdvantage : turnAdvantage[place]
      sequence.weights.rl[t] = weight
      if (kl?.place === 'loss') sequence.weights.kl[t] = kl.coefficient * weight
      references[t] = referenceLogprobs[place] ?? 0
    })
    return { sequence, references }
  })
}

/** Demonstrations as rows whose weights sum to the share of demonstrations. */
function demonstrationRows({ demonstrations }: LearningContext, share: number): TrainingSequence[] {
  if (demonstrations.length === 0)
    throw new AgogeError('There are no demonstrations to train on', {
      code: 'bad-config',
      given: { imitation: share, demonstrations: 0 },
      expected: 'demonstrations for every update',
      hint: 'Set demonstrations in the plan of reinforcement, or imitation: 0',
    })
  const weights = tokenWeights(demonstrations.map(trainedTokens), { mode: 'token-mean' })
  return demonstrations.flatMap((episode: Episode, i) =>
    toTrainingSequences(episode, () => ({ advantage: 0, weights: { ce: share * weights[i] } })),
  )
}

/**
 * A divergence can make the reward negative. An estimator for success rewards counts negative rewards as 0, so the
 * divergence would penalise successes only.
 */
function checkDivergence({ settings: { kl }, advantage }: Parts): void {
  if (advantage?.nonNegative === true && kl?.place === 'reward')
    throw new AgogeError(`${advantage.name} cannot be charged for a divergence in the reward`, {
      code: 'bad-config',
      given: { advantage: advantage.name, kl },
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
