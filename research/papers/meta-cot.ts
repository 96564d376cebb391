import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { copyWeights, remember, withTextModel } from '../testbeds/tiny-transformer/text-model.ts'
import { createChains } from '../answers/chains.ts'
import { examine, reinforceAnswers } from '../answers/learn-answers.ts'
import { fineTuneOnSolutions } from '../answers/warm-started.ts'
import type { Chains } from '../answers/chains.ts'
import type { Question } from '../answers/attempts.ts'

const names = ['a', 'b', 'c']
const maxTokens = 61
const window = 68

/** `3>7=` asks which two operations lead from 3 to 7. `3a5b7` names two, with their results. */
interface PathQuestion extends Question {
  /** The result of each pair of operations. */
  pairs: string[]
}

function ask(chains: Chains, start: number, target: number): PathQuestion[] {
  const pairs = names.flatMap((first) =>
    names.map((second) => {
      const middle = chains.apply(first, start)
      return `${start}${first}${middle}${second}${chains.apply(second, middle)}`
    }),
  )
  const solution = pairs.find((pair) => pair.endsWith(String(target)))
  if (solution === undefined) return []
  const right = pairs.filter((pair) => pair.endsWith(String(target)))
  const judge = (answer: string): number => Number(right.includes(answer.slice(-5)))
  return [{ prompt: `${start}>${target}=`, solution, pairs, judge }]
}

/** Pairs in some order up to a correct one. */
function trace({ pairs, judge }: PathQuestion, random: Random): string {
  const tried: string[] = []
  for (const pair of random.shuffle(pairs)) {
    tried.push(pair)
    if (judge?.(pair) === 1) break
  }
  return tried.join('')
}

/** All questions that have an answer; a fifth is reserved for testing. */
function allQuestions(seed: number) {
  const chains = createChains(seed, { operations: names.join('') })
  const questions = Array.from({ length: 100 }, (_, i) => ask(chains, Math.floor(i / 10), i % 10)).flat()
  const shuffled = createRandom(seed, 'paths').shuffle(questions)
  const tests = Math.ceil(questions.length / 5)
  return { alphabet: `${chains.alphabet}>`, train: shuffled.slice(tests), test: shuffled.slice(0, tests) }
}

/** Weights of a model trained on solutions, with the search that led to them or without. */
const readers = [false, true].map((search) =>
  remember(({ seed, budget }: ArmRun) => {
    const { alphabet, train } = allQuestions(seed)
    return withTextModel({ alphabet, seed, window }, async (model) => {
      const read = (random: Random): Question => {
        const question = random.pick(train)
        return search ? { ...question, solution: trace(question, random) } : question
      }
      await fineTuneOnSolutions(model, read, { steps: budget.warm, learningRate: 0.006, seed })
      return copyWeights(model)
    })
  }),
)

async function trained(run: ArmRun, search: boolean, steps: number): Promise<number> {
  const { seed } = run
  const { alphabet, train, test } = allQuestions(seed)
  const weights = await readers[Number(search)](run)
  return withTextModel({ alphabet, seed, window, weights }, async (model) => {
    const learn = { steps, seed, batch: 8, maxTokens, learningRate: 1e-3 }
    await reinforceAnswers(model, (random) => random.pick(train), learn)
    return (await examine(model, test, { maxTokens, samples: 4 })).accuracy
  })
}

export default definePaper({
  id: 'meta-cot',
  title: 'Towards System 2 Reasoning in LLMs: Learning How to Think With Meta Chain-of-Though',
  theme: 'reasoning',
  claim:
    'A model that has read how solutions were searched for, and is then reinforced, solves more than one that has read the solutions alone, reinforced or not, and than one that has only read.',
  arms: {
    'search-then-rl': (run) => trained(run, true, run.budget.steps),
    search: (run) => trained(run, true, 0),
    'path-then-rl': (run) => trained(run, false, run.budget.steps),
    path: (run) => trained(run, false, 0),
  },
  metric: 'accuracy on pairs of digits, not met before, that two of three operations lead between',
  budget: { warm: 300, steps: 25 },
  quick: { warm: 2, steps: 1 },
  pairing: 'seed',
  effect: { better: 'search-then-rl', than: ['path-then-rl', 'path', 'search'], atLeast: 0.03 },
  simplifications: [
    'that search wins follows by construction: nine pairs are all there are, the prompt names the target, and so a model that checks its own pairs is compared with one that guesses once. Not planned until a rival has as many tokens',
    'a search of at most nine pairs stands for tree search; a transformer of 21 thousand weights for language models',
  ],
})
