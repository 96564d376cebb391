import { createRandom } from 'agoge/engine'
import { createScalarModel, learnRewards, moveWeights, rewardScores, smallConfig } from 'agoge/llm'
import type { PreferencePair } from 'agoge/llm'
import { grpoAdvantages } from 'agoge/losses'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { copyPolicy, descend, lossGradient, passRates, sampleGroup } from '../testbeds/prefix-tree/index.ts'
import type { Answer, LearningRule } from '../testbeds/prefix-tree/index.ts'
import { accepts, digit, digits, end, questions } from '../testbeds/two-forms/two-forms.ts'
import { referenceOf, solutionsOf, twoFormsPolicy } from '../testbeds/two-forms/two-forms.ts'

/** Answers to a question in a step, and in the data that the reward model is trained on first. */
const [groupSize, firstAnswers] = [8, 8]

/** Of the reward model. It reads a token that begins the text, the reference and the answer. */
const size = { hidden_size: 16, intermediate_size: 32, num_hidden_layers: 1, vocab_size: digit + digits + 1 }
const heads = { num_attention_heads: 2, num_key_value_heads: 2, max_position_embeddings: 16 }
const config = { ...smallConfig, ...size, ...heads }
const read = (question: number, tokens: readonly number[]) => ({
  prompt: Int32Array.of(digit + digits, referenceOf(question)),
  tokens: Int32Array.from(tokens),
})
const readAnswer = ({ question, tokens }: Answer) => read(question, tokens)

/** Each answer that is not right, with a right one to the same question. */
const pairsOf = (groups: readonly Answer[][], right: (answer: Answer) => boolean): PreferencePair[] =>
  groups.flatMap((group, q) => {
    const good = group.filter(right)
    const bad = good.length === 0 ? [] : group.filter((answer) => !right(answer))
    return bad.map(({ tokens }, i) => {
      const { tokens: chosen, ...question } = read(q, good[i % good.length].tokens)
      return { ...question, chosen, rejected: Int32Array.from(tokens) }
    })
  })

/** Each answer that the rule accepts, with one that has another digit in its place. */
const editedPairs = (groups: readonly Answer[][], random: { int(n: number): number }): PreferencePair[] =>
  groups.flat().flatMap((answer) => {
    if (!accepts(answer)) return []
    const { prompt, tokens: chosen } = readAnswer(answer)
    const other = digit + ((chosen[0] - digit + 1 + random.int(digits - 1)) % digits)
    return [{ prompt, chosen, rejected: Int32Array.of(other, end) }]
  })

type ScalarModel = ReturnType<typeof createScalarModel>

/** One update of the reward model. */
async function teach(judge: ScalarModel, pairs: PreferencePair[], learningRate: number): Promise<void> {
  if (pairs.length === 0) return
  await learnRewards(judge, pairs)
  await moveWeights(judge, { learningRate })
}

/** Share of the answers that are wrong and that the reward model prefers to the one that the rule accepts. */
async function fooledShare(judge: ScalarModel, answers: readonly Answer[]): Promise<number> {
  const rights = questions.map((q) => read(q, solutionsOf(q)[0]))
  const scores = await rewardScores(judge, [...rights, ...answers.map(readAnswer)])
  const fools = ({ question, score }: Answer, i: number): boolean =>
    score < 1 && scores[questions.length + i] > scores[question]
  return average(answers.map((answer, i) => Number(fools(answer, i))))
}

/**
 * Best of the grid for each arm on seeds 201 to 210: learning rate of the policy; and that of the reward model, or the weight
 * of the divergence from the start.
 */
const settings = {
  'co-trained': [8, 0.001],
  'own-negatives': [8, 0.003],
  frozen: [4, 0],
  'frozen-fast': [8, 0],
  anchored: [8, 0.3],
  rule: [32, 0],
} as const

async function trained(
  name: keyof typeof settings,
  { seed, budget }: ArmRun,
  still = false,
): Promise<ArmResult> {
  const [rate, second] = settings[name]
  const learningRate = still ? 0 : rate
  const policy = twoFormsPolicy(seed)
  const reference = copyPolicy(policy)
  const random = createRandom(seed, 'training')
  const judge = createScalarModel({ config, seed, threads: 1 })
  const start = average(passRates(policy, questions))
  const sample = (size: number): Answer[][] => questions.map((q) => sampleGroup(policy, q, random, { size }))
  const first = pairsOf(sample(firstAnswers), (answer) => answer.score === 1)
  const updates = name === 'rule' ? 0 : budget.judge
  for (let update = 0; update < updates; update++) await teach(judge, first, 0.005)
  const rule: Omit<LearningRule, 'advantage'> = {
    loss: { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 },
    aggregation: { mode: 'sequence-mean' },
    ...(name === 'anchored' ? { kl: { place: 'loss', estimator: 'k3', coefficient: second } } : {}),
  }
  const curve: number[] = []
  const fooled: number[] = []
  let taught = 0
  for (let step = 0; step < budget.steps; step++) {
    const groups = sample(groupSize)
    const answers = groups.flat()
    const accepted = answers.map((answer) => Number(accepts(answer)))
    const scores = name === 'rule' ? accepted : await rewardScores(judge, answers.map(readAnswer))
    if (step === 0 || step === budget.steps - 1) fooled.push(await fooledShare(judge, answers))
    const examples = groups.flatMap((group, q) => {
      const advantages = grpoAdvantages(scores.slice(q * groupSize, (q + 1) * groupSize))
      return group.map((answer, m) => ({ answer, advantage: advantages[m] }))
    })
    descend(policy, lossGradient(policy, examples, rule, reference).gradient, { learningRate })
    curve.push(average(passRates(policy, questions)))
    const edited = name === 'co-trained' ? editedPairs(groups, random) : []
    const pairs = name === 'own-negatives' ? pairsOf(groups, accepts) : edited
    await teach(judge, pairs, second)
    taught += pairs.length / budget.steps
  }
  await judge.dispose()
  const late = curve.slice(-Math.ceil(budget.steps / 3))
  const fall = Math.max(...curve) - curve.at(-1)!
  const measures = { taught, first: fooled[0], fooled: fooled.at(-1)!, fall }
  return { score: average(late), start, measures }
}

export default definePaper({
  id: 'cooper',
  title: 'Cooper: Co-Optimizing Policy and Reward Models in Reinforcement Learning for Large Language Models',
  theme: 'rewards',
  claim:
    'A reward model that goes on learning from what the policy says now, with right answers picked by a precise rule and wrong ones made from them, is not hacked where a frozen one is.',
  arms: {
    'co-trained': (run) => trained('co-trained', run),
    frozen: (run) => trained('frozen', run),
    // As fast as the co-trained one.
    'frozen-fast': (run) => trained('frozen-fast', run),
    'own-negatives': (run) => trained('own-negatives', run),
    anchored: (run) => trained('anchored', run),
    rule: (run) => trained('rule', run),
    untrained: (run) => trained('rule', run, true),
  },
  metric: 'exact share of right answers, mean over the last third of the updates',
  pairing: 'seed',
  effect: { better: 'co-trained', than: ['frozen'], atLeast: 0.1 },
  checks: [
    {
      about: 'at first the reward model prefers few wrong answers',
      arm: ['co-trained', 'frozen', 'frozen-fast'],
      of: 'first',
      atMost: 0.2,
    },
    {
      about: 'a policy that learns fast finds wrong answers that a frozen one prefers',
      arm: 'frozen-fast',
      of: 'fooled',
      atLeast: 0.2,
    },
    { about: 'and then gets worse', arm: 'frozen-fast', of: 'fall', atLeast: 0.05 },
    { about: 'pairs for each update of the reward model', arm: 'co-trained', of: 'taught', atLeast: 5 },
    { about: 'the rival does not go on learning', arm: 'frozen', of: 'taught', atMost: 0 },
    { about: 'the policy starts weak', arm: 'co-trained', of: 'start', atLeast: 0.25, atMost: 0.35 },
    { about: 'no arm is saturated', arm: ['co-trained', 'frozen'], of: 'score', atMost: 0.95 },
  ],
  control: { positive: { better: 'rule', than: 'untrained', atLeast: 0.3 }, same: 'frozen' },
  budget: { judge: 60, steps: 60 },
  quick: { judge: 2, steps: 2 },
  simplifications: [
    'a softmax over prefixes that answers with one of five digits stands for a language model on mathematics; the reward model is a transformer with one layer that reads the reference and the answer',
    'the rule knows one of two forms of the right answer; the first reward model is trained on answers of the first policy with true labels',
    'wrong answers are right ones with another digit in their place, where the paper has a language model make them; `own-negatives` takes the policy’s own that the rule does not accept',
    'each arm has the best of learning rates 2, 8, 32 and 128 on seeds 201 to 210, frozen also of 0.5, 1, 4 and 16, with rates of the reward model of 0.0003, 0.001 and 0.003 (own-negatives also 0.01), or weights of the divergence of 0.01 to 1; there the co-trained one was ahead of the frozen one by 0.08, and the rule by far of both',
  ],
})
