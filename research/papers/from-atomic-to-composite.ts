import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { copyWeights, remember, withTextModel } from '../answers/text-model.ts'
import { createChains } from '../answers/chains.ts'
import { examine, reinforceAnswers } from '../answers/learn-answers.ts'
import { fineTuneOnSolutions } from '../answers/warm-started.ts'
import type { Chains } from '../answers/chains.ts'
import type { Question } from '../answers/text-model.ts'

const maxTokens = 4
const relations = ['a', 'b', 'c', 'd']
const parts = ['x', 'y']
/** Combinations of a known fact and a position in the context that composite training shows; the others are for testing. */
const isShown = (relation: string, part: string): boolean => 'ab'.includes(relation) === (part === 'x')

/**
 * The context is two digits; x reads the first and y the second. `37xa.=` asks for the result of a applied to 3.
 * `37x..=` and `37.a5=` ask for one of the two skills alone.
 */
function ask(chains: Chains, random: Random, part: string, relation: string): Question {
  const context = [random.int(10), random.int(10)]
  const start = part === '.' ? random.int(10) : context[part === 'x' ? 0 : 1]
  const last = String(relation === '.' ? start : chains.apply(relation, start))
  return {
    prompt: `${context.join('')}${part}${relation}${part === '.' ? start : '.'}=`,
    solution: part === '.' || relation === '.' ? last : `${start}${last}`,
    judge: (answer) => Number(answer.endsWith(last)),
  }
}

type Draw = (chains: Chains, random: Random) => Question

const atomic: Draw = (chains, random) =>
  random.next() < 0.7
    ? ask(chains, random, '.', random.pick(relations))
    : ask(chains, random, random.pick(parts), '.')

const composite =
  (shown: boolean): Draw =>
  (chains, random) => {
    const relation = random.pick(relations)
    return ask(chains, random, isShown(relation, 'x') === shown ? 'x' : 'y', relation)
  }

/** Weights after supervised learning of these questions alone. */
const taught = (draw: Draw) =>
  remember(({ seed, budget }: ArmRun) => {
    const chains = createChains(seed)
    return withTextModel({ alphabet: `${chains.alphabet}xy`, seed }, async (model) => {
      const learn = { steps: budget.warm, learningRate: 0.006, seed }
      await fineTuneOnSolutions(model, (random) => draw(chains, random), learn)
      return copyWeights(model)
    })
  })
const atomicSkills = taught(atomic)
const compositeSkills = taught(composite(true))

async function trained(run: ArmRun, begin: typeof atomicSkills, steps: number): Promise<number> {
  const { seed } = run
  const chains = createChains(seed)
  const weights = await begin(run)
  return withTextModel({ alphabet: `${chains.alphabet}xy`, seed, weights }, async (model) => {
    const learn = { steps, seed, batch: 16, maxTokens, learningRate: 1e-3 }
    await reinforceAnswers(model, (random) => composite(true)(chains, random), learn)
    const random = createRandom(seed, 'test')
    const tests = Array.from({ length: 128 }, () => composite(false)(chains, random))
    return (await examine(model, tests, { maxTokens, samples: 4 })).accuracy
  })
}

export default definePaper({
  id: 'from-atomic-to-composite',
  title: 'From Atomic to Composite: Reinforcement Learning Enables Generalization in Complementary Reasoning',
  theme: 'reasoning',
  claim:
    'On combinations never shown, reinforcement of composite questions after supervised learning of the single skills beats supervised learning of composite questions, reinforced or not, and the single skills alone.',
  arms: {
    'atomic-then-rl': (run) => trained(run, atomicSkills, run.budget.steps),
    atomic: (run) => trained(run, atomicSkills, 0),
    composite: (run) => trained(run, compositeSkills, 0),
    'composite-then-rl': (run) => trained(run, compositeSkills, run.budget.steps),
  },
  metric: 'accuracy on composite questions of combinations that composite training never shows',
  budget: { warm: 200, steps: 60 },
  quick: { warm: 2, steps: 1 },
  pairing: 'seed',
  effect: { better: 'atomic-then-rl', than: ['composite', 'composite-then-rl', 'atomic'], atLeast: 0.05 },
  simplifications: [
    'permutations of digits, and two digits in the prompt, stand for biographies; 21 thousand weights for a language model',
  ],
})
