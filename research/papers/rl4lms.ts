import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import {
  answerOf,
  copyPolicy,
  exactValues,
  fineTune,
  languageModel,
  presetRule,
  reinforce,
  sampleGroup,
} from '../testbeds/prefix-tree/index.ts'
import type { Answer, PrefixPolicy } from '../testbeds/prefix-tree/index.ts'

/** Whether a token is among the likeliest with this much probability together, under the policy of the mask. */
function allowed(mask: PrefixPolicy, { nodes, tokens }: Answer, topP: number): boolean {
  const { vocabulary } = mask.tree
  return nodes.every((node, t) => {
    const at = node * vocabulary
    const row = mask.logprobs(node).subarray(at, at + vocabulary)
    const own = row[tokens[t]]
    const above = row.reduce((sum, logprob) => sum + (logprob > own ? Math.exp(logprob) : 0), 0)
    return above < topP
  })
}

/** Answers among the tokens of the mask, by rejection: the policy's distribution given that all of its tokens are allowed. */
function maskedGroup(policy: PrefixPolicy, mask: PrefixPolicy, question: number, random: Random): Answer[] {
  const group: Answer[] = []
  for (let attempt = 0; group.length < 8; attempt++) {
    const [answer] = sampleGroup(policy, question, random, { size: 1 })
    if (attempt >= 200 || allowed(mask, answer, 0.9)) group.push(answer)
  }
  return group
}

/** Settings of an arm; the learning rate and the divergence's coefficient are the best of the same grids on seeds above 100. */
export interface Settings {
  learningRate: number
  kl: number
  masked?: boolean
}

/** Reinforcement with a divergence from the start in the loss. Returns the exact true reward. */
export function trained(
  { seed, steps }: { seed: number; steps: number },
  { learningRate, kl, masked = false }: Settings,
): ArmResult {
  const policy = languageModel(seed)
  const start = exactValues(policy).reward
  let mask = copyPolicy(policy)
  const invalid: number[] = []
  reinforce(policy, {
    rule: { ...presetRule('grpo').rule, kl: { place: 'loss', estimator: 'k3', coefficient: kl } },
    questions: policy.tree.questions.map((_, q) => q),
    steps,
    learningRate,
    seed,
    sample(question, random, step) {
      // The mask follows the policy, 10 steps at a time.
      if (masked && step % 10 === 0) mask = copyPolicy(policy)
      return masked
        ? maskedGroup(policy, mask, question, random)
        : sampleGroup(policy, question, random, { size: 8 })
    },
    onStep: (_, _measures, groups) =>
      void invalid.push(average(groups.flat().map(({ score, reward }) => Number(score < reward)))),
  })
  const score = exactValues(policy).reward
  const sentimentAfter = exactValues(policy, undefined, 'training').reward
  return {
    score,
    start,
    measures: { hacked: sentimentAfter - score, invalid: invalid.length === 0 ? 0 : average(invalid) },
  }
}

/** Supervised learning of the quarter of its own texts with the most sentiment, as many texts as the others sample. */
export function filtered(
  { seed, steps }: { seed: number; steps: number },
  { learningRate }: Pick<Settings, 'learningRate'>,
): ArmResult {
  const policy = languageModel(seed)
  const start = exactValues(policy).reward
  const random = createRandom(seed, 'filtered')
  for (let step = 0; step < steps; step++) {
    const texts = policy.tree.questions.flatMap((_, q) => sampleGroup(policy, q, random, { size: 16 }))
    const best = texts.toSorted((a, b) => b.reward - a.reward).slice(0, 16)
    const shown = best.map(({ question, tokens }) => answerOf(policy, question, tokens))
    fineTune(policy, shown, { steps: 1, learningRate })
  }
  return { score: exactValues(policy).reward, start, measures: { hacked: 0, invalid: 0 } }
}

const arm =
  (settings: Settings) =>
  ({ seed, budget }: ArmRun): ArmResult =>
    trained({ seed, steps: budget.steps }, settings)

export default definePaper({
  id: 'rl4lms',
  title:
    'Is Reinforcement Learning (Not) for Natural Language Processing: Benchmarks, Baselines, and Building Blocks for Natural Language Policy Optimization',
  theme: 'reasoning',
  claim:
    'Reinforcement with a divergence from the start, sampling among the likeliest tokens alone (NLPO), aligns a language model better than without this mask, and than supervised learning of its best texts.',
  arms: {
    nlpo: arm({ learningRate: 60, kl: 0.01, masked: true }),
    ppo: arm({ learningRate: 10, kl: 0.01 }),
    supervised: ({ seed, budget }) => filtered({ seed, steps: budget.steps }, { learningRate: 3 }),
    untrained: ({ seed }) => trained({ seed, steps: 0 }, { learningRate: 0, kl: 0 }),
  },
  metric:
    'exact expected share of liked letters in a text, where a text that breaks the grammar counts for nothing',
  pairing: 'seed',
  effect: { better: 'nlpo', than: ['ppo', 'supervised'], atLeast: 0.03 },
  checks: [
    {
      about: 'without a mask, texts are rewarded that break the grammar',
      arm: 'ppo',
      of: 'invalid',
      atLeast: 0.05,
    },
    { about: 'the mask keeps most of these out', arm: 'nlpo', of: 'invalid', atMost: 0.05 },
    {
      about: 'arms start alike',
      arm: ['nlpo', 'ppo', 'supervised'],
      of: 'start',
      atLeast: 0.02,
      atMost: 0.4,
    },
  ],
  control: { positive: { better: 'ppo', than: 'untrained', atLeast: 0.05 } },
  budget: { steps: 40 },
  quick: { steps: 2 },
  simplifications: [
    'an invented grammar of eight letters and a lexicon of two stand for GRUE; a policy over the last letter for a language model',
    'the reward of training does not see the grammar, so that what the mask excludes can pay',
    'advantages are relative to the group, without a critic; the mask is copied every 10 updates; answers outside of it are drawn again, which costs no budget',
  ],
})
