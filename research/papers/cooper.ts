import { grpoAdvantages } from 'agoge/losses'
import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmRun } from '../runner/paper.ts'
import {
  applyUpdate,
  moveWeights,
  createLocalBackend,
  createScalarModel,
  smallConfig,
  creditedSequence,
  imitationSequence,
  sampleAnswers,
  learnRewards,
  rewardScores,
} from 'agoge/llm'
import type { LocalBackend, SampledAnswer, PreferencePair } from 'agoge/llm'
import { createRandom } from 'agoge/engine'

/** Vocabulary: begin, end, digits. Questions are two digits below 4; only their sum is right. */
const [begin, end, digit] = [0, 1, 2]
const prompts = Array.from({ length: 16 }, (_, i) => Int32Array.of(begin, digit + (i >> 2), digit + (i % 4)))
const sumOf = (prompt: Int32Array): number => prompt[1] + prompt[2] - digit
/** The rule: accepts only correct answers. */
const accepts = ({ prompt, tokens }: SampledAnswer): boolean =>
  tokens.length === 2 && tokens[0] === sumOf(prompt) && tokens[1] === end
/** The judge sees the reference answer instead of the question. */
const reference = (prompt: Int32Array): Int32Array => Int32Array.of(begin, sumOf(prompt))
const heads = { num_attention_heads: 2, num_key_value_heads: 2, max_position_embeddings: 16 }
const size = { hidden_size: 32, intermediate_size: 64, num_hidden_layers: 1, vocab_size: 10 }
const config = { ...smallConfig, ...heads, ...size }
const sampling = { maxTokens: 4, stop: [end], groupSize: 8 }

/** Clones answers of one digit, sometimes two or three, whose first digit is right half of the time. */
async function imitator({ seed, budget }: ArmRun): Promise<LocalBackend> {
  const backend = createLocalBackend({ config, seed, threads: 1 })
  const random = createRandom('imitate', seed)
  for (let step = 0; step < budget.imitation; step++) {
    const rows = Array.from({ length: 32 }, () => {
      const prompt = random.pick(prompts)
      const more =
        random.next() < 0.9 ? [] : Array.from({ length: 1 + random.int(2) }, () => digit + random.int(8))
      const tokens = Int32Array.of(random.next() < 0.5 ? sumOf(prompt) : digit + random.int(7), ...more, end)
      return imitationSequence({ prompt, tokens }, { weight: 1 / 70 })
    })
    await applyUpdate(backend, { sequences: rows, loss: { name: 'cross_entropy' } }, { learningRate: 0.01 })
  }
  return backend
}

/** Pairs of right and wrong answers to the same question. */
function pairsOf(groups: readonly SampledAnswer[][]): PreferencePair[] {
  return groups.flatMap((group, g) => {
    const right = group.filter(accepts)
    return group
      .filter((answer) => !accepts(answer))
      .flatMap(({ tokens }, i) =>
        right.length === 0
          ? []
          : [{ prompt: reference(prompts[g]), chosen: right[i % right.length].tokens, rejected: tokens }],
      )
  })
}

/** Share of right answers after the policy has learned from the reward model. */
async function accuracy(run: ArmRun, jointly: boolean): Promise<number> {
  const { seed, budget } = run
  const policy = await imitator(run)
  const judge = createScalarModel({ config, seed, threads: 1 })
  const teach = async (pairs: readonly PreferencePair[]): Promise<void> => {
    if (pairs.length === 0) return
    await learnRewards(judge, pairs)
    await moveWeights(judge, { learningRate: 0.005 })
  }
  const first = await sampleAnswers(policy, prompts, { ...sampling, seed, name: 'first' })
  for (let step = 0; step < budget.judge; step++) await teach(pairsOf(first))
  for (let step = 0; step < budget.steps; step++) {
    const groups = await sampleAnswers(policy, prompts, { ...sampling, seed, name: `${step}` })
    const answers = groups.flat()
    const judged = answers.map(({ prompt, tokens }) => ({ prompt: reference(prompt), tokens }))
    const scores = await rewardScores(judge, judged)
    const advantages = groups.flatMap((_, g) => grpoAdvantages(scores.slice(8 * g, 8 * g + 8)))
    const weight = 1 / answers.reduce((sum, { tokens }) => sum + tokens.length, 0)
    const rows = answers.map((answer, i) => creditedSequence(answer, { advantage: advantages[i], weight }))
    const loss = { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 } as const
    await applyUpdate(policy, { sequences: rows, loss }, { learningRate: 0.002 })
    if (jointly) for (let again = 0; again < 3; again++) await teach(pairsOf(groups))
  }
  const answers = await sampleAnswers(policy, prompts, { ...sampling, groupSize: 32, seed, name: 'test' })
  await Promise.all([policy.dispose(), judge.dispose()])
  return average(answers.flat().map((answer) => Number(accepts(answer))))
}

export default definePaper({
  id: 'cooper',
  title: 'Cooper: Co-Optimizing Policy and Reward Models in Reinforcement Learning for Large Language Models',
  theme: 'rewards',
  claim:
    'A reward model that goes on learning from what the policy says now, with right answers picked by a precise rule, is not hacked where a frozen one is.',
  arms: {
    'co-trained': (run) => accuracy(run, true),
    frozen: (run) => accuracy(run, false),
  },
  metric: 'share of answers that are right after learning from the reward model',
  budget: { imitation: 100, judge: 100, steps: 80 },
  quick: { imitation: 3, judge: 2, steps: 2 },
  pairing: 'seed',
  effect: { better: 'co-trained', than: ['frozen'], atLeast: 0.05 },
  simplifications: [
    'sums of two digits on small transformers stand for mathematics',
    'wrong answers are the policy’s own that the rule does not accept, where the paper has a language model make them from right ones',
  ],
})
