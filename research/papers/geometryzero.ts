import { grpoAdvantages } from 'agoge/losses'
import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { examine, reinforceAnswers } from '../answers/learn-answers.ts'
import { warmStartedOnChains } from '../answers/warm-started.ts'
import type { Attempt, Question } from '../answers/text-model.ts'
import type { Chains } from '../answers/chains.ts'

const maxTokens = 5
const bonus = 0.3

/** Questions of two operations, where an auxiliary digit (`x5` before the answer) helps, or of one, where it misleads. */
function draw(chains: Chains, random: Random, depth = 1 + random.int(2)): Question {
  const { prompt, steps, judge } = chains.ask(
    Array.from({ length: depth }, () => random.pick(['a', 'b', 'c', 'd'])).join(''),
    random.int(10),
  )
  const answer = String(steps.at(-1))
  return { prompt, solution: answer, judge: (said) => judge?.(said) ?? 0 }
}

/**
 * Data of the base model: with and without a construction equally often; a needless construction leads to a random
 * answer.
 */
function read(chains: Chains, random: Random): Question {
  const depth = 1 + random.int(2)
  const question = draw(chains, random, depth)
  if (random.next() < 0.5) return question
  if (depth === 1) return { ...question, solution: `x${random.int(10)}${random.int(10)}` }
  const [first, , start] = question.prompt
  return { ...question, solution: `x${chains.apply(first, Number(start))}${question.solution}` }
}

const gain = warmStartedOnChains<ArmRun>({
  places: 2,
  symbols: 'x',
  taught: (chains) => (random) => read(chains, random),
  async tested(model, chains, { seed }) {
    const random = createRandom(seed, 'test')
    const tests = Array.from({ length: 128 }, () => draw(chains, random))
    return (await examine(model, tests, { maxTokens, samples: 4 })).accuracy
  },
})

const constructs = ({ text }: Attempt): boolean => text.startsWith('x')

/** Reward of a construction in this group. */
type Pay = (group: readonly Attempt[]) => number

/** Depends on whether answers with a construction do better than those without. */
const contrastive: Pay = (group) => {
  const share = (within: boolean): number =>
    average(group.filter((member) => constructs(member) === within).map(({ reward }) => reward))
  const used = group.filter(constructs).length
  return used === 0 || used === group.length ? 0 : bonus * Math.sign(share(true) - share(false))
}

function trained(run: ArmRun, pay: Pay, perToken = 0): Promise<number> {
  const { seed, budget } = run
  return gain(run, (model, chains) =>
    reinforceAnswers(model, (random) => draw(chains, random), {
      steps: budget.steps,
      seed,
      batch: 16,
      maxTokens,
      learningRate: 1e-3,
      advantages: (_, groups) =>
        groups.map((group) => {
          const rewarded = pay(group)
          const worth = (member: Attempt): number =>
            member.reward * (1 + perToken * member.tokens.length) + (constructs(member) ? rewarded : 0)
          return grpoAdvantages(group.map(worth))
        }),
    }),
  )
}

export default definePaper({
  id: 'geometryzero',
  title: 'GeometryZero: Improving Geometry Solving for LLM with Group Contrastive Policy Optimization',
  theme: 'reasoning',
  claim:
    'Paying or charging for an auxiliary construction by whether it helped within the group learns more than GRPO and than paying for every construction.',
  arms: {
    gcpo: (run) => trained(run, contrastive, 0.02),
    grpo: (run) => trained(run, () => 0),
    'always-paid': (run) => trained(run, () => bonus),
    'gcpo-without-length': (run) => trained(run, contrastive),
  },
  metric: 'accuracy gained on questions of one step, where a construction harms, and of two, where it helps',
  budget: { warm: 450, steps: 40 },
  quick: { warm: 2, steps: 1 },
  pairing: 'seed',
  effect: { better: 'gcpo', than: ['grpo', 'always-paid'], atLeast: 0.03 },
  simplifications: [
    'a digit on the way, written down, stands for an auxiliary line; a transformer of 21 thousand weights for language models',
  ],
})
