import { AgogeError } from '../../error.ts'
import type { Episode, EpisodeSample, TrainingSequence } from './types.ts'

/** What one sample is worth to the trainer. Missing weights are 0. Weight 0 trains nothing. */
export interface SampleAdvantage {
  /** One number for all tokens of the sample, or one per token of the output node. */
  advantage: number | ArrayLike<number>
  weights: { rl?: number; ce?: number; kl?: number }
}

/** One row in the making: a maximal path of nodes and the samples trained in it. */
interface Branch {
  nodes: number[]
  members: { sample: EpisodeSample; advantage: SampleAdvantage; outputAt: number }[]
}

/**
 * Turns an episode into rows for the trainer. Samples share a row if one's prompt begins with the other's prompt and output, so
 * a conversation of any number of turns is one sequence. A branch, a truncated history or a sub-agent starts another row. Every
 * token that the policy chose is trained exactly once. Its row stores the temperature it was drawn at, or 1 if it is only
 * trained by SFT.
 *
 * @param advantage is called once per trainable sample; `null` leaves the sample out. Masked episodes give no rows.
 * @throws AgogeError if a sample has no tokens, lengths differ, or its first token has nothing before it.
 */
export function toTrainingSequences(
  episode: Episode,
  advantage: (sample: EpisodeSample, index: number) => SampleAdvantage | null,
): TrainingSequence[] {
  if (episode.status === 'masked') return []
  const credited = episode.samples.flatMap((sample, index) => {
    const given = sample.trainable ? advantage(sample, index) : null
    if (given === null) return []
    checkSample(episode, sample, index)
    return [{ sample, advantage: given, nodes: [...sample.path, sample.output] }]
  })
  const branches: Branch[] = []
  const byLength = credited
    .map((_, index) => index)
    .sort((a, b) => credited[b].nodes.length - credited[a].nodes.length)
  // Longest first: a shorter prompt that is a prefix then always finds its row.
  for (const index of byLength) {
    const { sample, advantage, nodes } = credited[index]
    const home = branches.find((branch) => isPrefix(nodes, branch.nodes))
    const member = { sample, advantage, outputAt: nodes.length - 1 }
    if (home === undefined) branches.push({ nodes, members: [member] })
    else if (home.members.some((other) => other.outputAt === member.outputAt))
      throw invalid(episode, `two samples claim the output node ${sample.output}`)
    else home.members.push(member)
  }
  return branches.map((branch) => toSequence(episode, branch))
}

function toSequence(episode: Episode, { nodes, members }: Branch): TrainingSequence {
  const starts: number[] = []
  let length = 0
  for (const id of nodes) {
    starts.push(length)
    length += nodeTokens(episode, id).length
  }
  const tokens = new Int32Array(length)
  nodes.forEach((id, at) => tokens.set(nodeTokens(episode, id), starts[at]))
  const row: TrainingSequence = {
    tokens,
    logprobs: new Float32Array(length),
    advantages: new Float32Array(length),
    weights: { rl: new Float32Array(length), ce: new Float32Array(length), kl: new Float32Array(length) },
  }
  const temperatures = new Float32Array(length).fill(1)
  for (const { sample, advantage, outputAt } of members) {
    const start = starts[outputAt]
    const temperature = temperatureOf(sample, advantage)
    for (let t = 0; t < sample.mask.length; t++) {
      if (sample.mask[t] === 0) continue
      if (start + t === 0)
        throw invalid(episode, 'the first token of a sequence was sampled, nothing stands before it')
      row.logprobs[start + t] = sample.logprobs[t]
      row.advantages[start + t] =
        typeof advantage.advantage === 'number' ? advantage.advantage : advantage.advantage[t]
      row.weights.rl[start + t] = advantage.weights.rl ?? 0
      row.weights.ce[start + t] = advantage.weights.ce ?? 0
      row.weights.kl[start + t] = advantage.weights.kl ?? 0
      temperatures[start + t] = temperature
    }
  }
  return temperatures.some((temperature) => temperature !== 1) ? { ...row, temperatures } : row
}

/**
 * SFT trains at temperature 1, however the tokens were found. Log-probabilities of greedy choices are reported at temperature 1
 * too.
 */
function temperatureOf({ sampling }: EpisodeSample, { weights: { rl, ce, kl } }: SampleAdvantage): number {
  return ce && !rl && !kl ? 1 : sampling.temperature || 1
}

function checkSample(episode: Episode, sample: EpisodeSample, index: number): void {
  const length = nodeTokens(episode, sample.output).length
  if (length === 0)
    throw invalid(episode, `sample ${index} has no tokens (a remote model's?) and cannot be trained`)
  if (sample.logprobs.length !== length || sample.mask.length !== length)
    throw invalid(
      episode,
      `sample ${index} has ${length} tokens but ${sample.logprobs.length} log-probabilities and a mask of ${sample.mask.length}`,
    )
}

function nodeTokens(episode: Episode, id: number): Int32Array {
  // Agoge's own ids are positions in the array. Imported episodes may number their nodes differently.
  const node = episode.nodes[id]?.id === id ? episode.nodes[id] : episode.nodes.find((node) => node.id === id)
  if (node === undefined) throw invalid(episode, `a sample names the node ${id}, which does not exist`)
  return node.tokens
}

function isPrefix(short: readonly number[], long: readonly number[]): boolean {
  return short.length <= long.length && short.every((id, at) => id === long[at])
}

function invalid(episode: Episode, problem: string): AgogeError {
  return new AgogeError(`Episode ${episode.id} cannot be turned into training sequences: ${problem}`, {
    code: 'bad-episode',
    given: episode.id,
    expected: 'samples that name existing nodes, with one log-probability and one mask value for each token',
  })
}

/** One output of the policy within a row of tokens. */
export interface Utterance {
  /** Index among the episode's trainable samples, in the order they were sampled. */
  turn: number
  /** Position of the token before the first one that the policy chose. A value function reads its state there. */
  before: number
  /** Position of the last token that the policy chose. */
  last: number
}

/**
 * The rows of an episode, as `toTrainingSequences` makes them, with the positions of the policy's outputs. Masked episodes have
 * none.
 */
export function utteranceRows(episode: Episode): { tokens: Int32Array; utterances: Utterance[] }[] {
  let turn = 0
  // Carries the turn's number in place of its advantage.
  const rows = toTrainingSequences(episode, () => ({ advantage: turn++, weights: { rl: 1 } }))
  return rows.map(({ tokens, advantages, weights }) => {
    const utterances = new Map<number, Utterance>()
    for (let t = 0; t < tokens.length; t++) {
      if (weights.rl[t] === 0) continue
      const known = utterances.get(advantages[t])
      if (known === undefined) utterances.set(advantages[t], { turn: advantages[t], before: t - 1, last: t })
      else known.last = t
    }
    return { tokens, utterances: [...utterances.values()] }
  })
}

/**
 * The reward of each trainable sample: the sum of the rewards that name it. A reward for an untrained sample (of a sub-agent)
 * goes to the trained one before it.
 *
 * @returns one number per trainable sample, 0 without a reward. `null` if any reward could not be judged.
 */
export function turnRewards({ samples, rewards }: Pick<Episode, 'samples' | 'rewards'>): number[] | null {
  const turns: number[] = []
  let turn = -1
  const turnOf = samples.map(({ trainable }) => {
    if (trainable) turns[++turn] = 0
    return Math.max(0, turn)
  })
  for (const { sample, value } of rewards) {
    if (sample === undefined || turns.length === 0) continue
    if (value === null) return null
    turns[turnOf[sample]] += value
  }
  return turns
}
