import { createRandom, type Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult } from '../runner/paper.ts'
import {
  exactValues,
  presetRule,
  reinforce,
  sampleGroup,
  tunedArms,
  variableLengthTask,
} from '../testbeds/prefix-tree/index.ts'
import type { Answer, LearningRule, PrefixPolicy, TunedRun } from '../testbeds/prefix-tree/index.ts'

const groupSize = 8
const budget = { tokens: 6_000, tokensPerUpdate: 200, questionsPerUpdate: 8 }

/** GRPO in all arms. They differ in what an update is trained on, and in how its tokens are weighted. */
const arms: Record<string, { fixedTokens: boolean; aggregation: LearningRule['aggregation'] }> = {
  c3po: { fixedTokens: true, aggregation: { mode: 'token-mean' } },
  'fixed-samples-by-token': { fixedTokens: false, aggregation: { mode: 'token-mean' } },
  'fixed-samples-by-answer': { fixedTokens: false, aggregation: { mode: 'sequence-mean' } },
}
type Name = 'c3po' | 'fixed-samples-by-token' | 'fixed-samples-by-answer'

const tokensOf = (group: readonly Answer[]): number =>
  group.reduce((sum, { tokens }) => sum + tokens.length, 0)

/** Groups of questions in a random order, as many as the tokens of an update allow, or as many as there always are. */
function drawGroups(
  policy: PrefixPolicy,
  random: Random,
  { fixedTokens, budget }: { fixedTokens: boolean; budget: TunedRun['budget'] },
): { groups: Answer[][]; sampled: number } {
  const groups: Answer[][] = []
  let [sampled, kept] = [0, 0]
  for (const question of random.shuffle(policy.tree.questions.map((_, q) => q))) {
    if (!fixedTokens && groups.length === budget.questionsPerUpdate) break
    const group = sampleGroup(policy, question, random, { size: groupSize })
    sampled += tokensOf(group)
    // The group that does not fit was sampled for nothing.
    if (fixedTokens && kept + tokensOf(group) > budget.tokensPerUpdate) break
    kept += tokensOf(group)
    groups.push(group)
  }
  return { groups, sampled }
}

/** Trains until as many tokens were sampled. */
function trained(name: Name, learningRate: number, { seed, budget }: TunedRun): ArmResult {
  const { fixedTokens, aggregation } = arms[name]
  const { policy, train } = variableLengthTask({ seed, count: 16, filler: 1 })
  const start = exactValues(policy, train)
  const rule: LearningRule = { ...presetRule('grpo').rule, aggregation }
  const updates: number[] = []
  let [used, step] = [0, 0]
  while (used < budget.tokens) {
    const { groups, sampled } = drawGroups(policy, createRandom(seed, 'groups', step), {
      fixedTokens,
      budget,
    })
    used += sampled
    step += 1
    if (groups.length === 0) continue
    const queue = [...groups]
    reinforce(policy, {
      rule,
      questions: train,
      steps: 1,
      learningRate,
      seed,
      draw: () => groups.map(([{ question }]) => question),
      sample: () => queue.shift() ?? [],
    })
    updates.push(groups.reduce((sum, group) => sum + tokensOf(group), 0))
  }
  const middle = average(updates)
  const end = exactValues(policy, train)
  return {
    score: end.passAt1,
    start: start.passAt1,
    measures: {
      updates: updates.length,
      spread: Math.sqrt(average(updates.map((tokens) => (tokens - middle) ** 2))) / middle,
      shortened: start.length - end.length,
    },
  }
}

/** By `tune-paper.ts`, the best of the grid for each arm. */
const learningRates = { c3po: 23, 'fixed-samples-by-token': 23, 'fixed-samples-by-answer': 23 }
const tunedOnes = tunedArms<Name>(learningRates, trained, { grid: [11, 16, 23, 32, 45, 64, 90], budget })
export const { tuning } = tunedOnes

export default definePaper({
  id: 'ring-lite',
  title: 'Ring-lite: Scalable Reasoning via C3PO-Stabilized Reinforcement Learning for LLMs',
  theme: 'reasoning',
  claim:
    'Updates on a fixed number of tokens (C3PO) learn more from as many sampled tokens than updates on a fixed number of answers, whose tokens vary.',
  arms: tunedOnes.arms,
  metric:
    'exact pass@1 on the trained questions after as many sampled tokens, each arm at its best learning rate',
  pairing: 'seed',
  effect: { better: 'c3po', than: ['fixed-samples-by-token', 'fixed-samples-by-answer'], atLeast: 0.02 },
  checks: [
    {
      about: 'tokens of an update vary with a fixed number of answers',
      arm: 'fixed-samples-by-token',
      of: 'spread',
      atLeast: 0.05,
    },
    { about: 'and hardly with a fixed number of tokens', arm: 'c3po', of: 'spread', atMost: 0.12 },
    { about: 'no arm is saturated', arm: ['c3po', 'fixed-samples-by-token'], of: 'score', atMost: 0.95 },
    { about: 'starting competence', arm: 'c3po', of: 'start', atLeast: 0.28, atMost: 0.32 },
  ],
  control: { positive: { better: 'fixed-samples-by-token', than: 'untrained', atLeast: 0.1 } },
  budget,
  quick: { tokens: 500, tokensPerUpdate: 200, questionsPerUpdate: 8 },
  simplifications: [
    'answers of at most five tokens; a softmax over prefixes stands for a language model, plain gradient descent for its optimiser',
    'whole groups are taken while they fit; the one that does not is sampled for nothing, which counts',
    'only the fixed number of tokens is tried, not distillation nor the stages of domains',
  ],
})
