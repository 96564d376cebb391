import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { examine, reinforceAnswers } from '../answers/learn-answers.ts'
import { fineTuneOnSolutions, warmStarted } from '../answers/warm-started.ts'
import type { Question } from '../answers/text-model.ts'

const alphabet = 'abcdef0123456789=:,"{}'
const maxTokens = 20

type Judge = (answer: string, wanted: Readonly<Record<string, number>>) => number

function parsed(answer: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(answer)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

const sameKeys = (value: object, wanted: object): boolean =>
  String(Object.keys(value)) === String(Object.keys(wanted))

/** The exact expected answer. */
const right: Judge = (answer, wanted) => {
  const value = parsed(answer)
  return Number(value !== undefined && sameKeys(value, wanted) && shareRight(value, wanted) === 1)
}

const shareRight = (value: Record<string, unknown>, wanted: Readonly<Record<string, number>>): number => {
  const keys = Object.keys(wanted)
  return keys.filter((key) => value[key] === wanted[key]).length / keys.length
}

const valid: Judge = (answer) => Number(parsed(answer) !== undefined)

/** Structure, validity, format and content, a quarter each; later ones require the earlier ones. */
const hierarchical: Judge = (answer, wanted) => {
  const structure = Number(/^\{[^{}]*\}$/.test(answer) && answer.split('"').length === 5)
  const value = parsed(answer)
  if (value === undefined) return structure / 4
  return (structure + 1 + Number(sameKeys(value, wanted)) + shareRight(value, wanted)) / 4
}

/** `b3d7=` asks for `{"b":3,"d":7}`. */
function draw(random: Random, judge: Judge): Question {
  const keys = random.shuffle(Array.from('abcdef')).slice(0, 2)
  const wanted = Object.fromEntries(keys.map((key) => [key, random.int(10)]))
  const prompt = `${Object.entries(wanted)
    .map(([key, digit]) => key + String(digit))
    .join('')}=`
  return { prompt, solution: JSON.stringify(wanted), judge: (answer) => judge(answer, wanted) }
}

const teach = { learningRate: 0.006, batch: 16 }
/** The teacher's examples. */
const demonstrations = (seed: number): Question[] => {
  const random = createRandom(seed, 'demonstrations')
  return Array.from({ length: 32 }, () => draw(random, right))
}

const gain = warmStarted<ArmRun>({
  model: () => ({ alphabet }),
  teach(model, { seed, budget }) {
    const shown = demonstrations(seed)
    return fineTuneOnSolutions(model, (random) => random.pick(shown), { ...teach, steps: budget.warm, seed })
  },
  async test(model, { seed }) {
    const random = createRandom(seed, 'test')
    const tests = Array.from({ length: 96 }, () => draw(random, right))
    return (await examine(model, tests, { maxTokens, samples: 2 })).accuracy
  },
})

/** By RL with a reward. */
function learned(run: ArmRun, reward: Judge): Promise<number> {
  const { seed, budget } = run
  const learn = { steps: budget.steps, seed, batch: 16, maxTokens, learningRate: 1e-3 }
  return gain(run, (model) => reinforceAnswers(model, (random) => draw(random, reward), learn))
}

/** By further cloning of the examples. */
function supervised(run: ArmRun): Promise<number> {
  const { seed, budget } = run
  const shown = demonstrations(seed)
  const learn = { steps: budget.steps, learningRate: 1e-3, seed: seed + 1000 }
  return gain(run, (model) => fineTuneOnSolutions(model, (random) => random.pick(shown), learn))
}

export default definePaper({
  id: 'rl-struct',
  title: 'RL-Struct: A Lightweight Reinforcement Learning Framework for Reliable Structured Output in LLMs',
  theme: 'reasoning',
  claim:
    'A reward in parts, for structure, validity, format and content, teaches structured output better than supervised learning and than one reward for everything being right.',
  arms: {
    hierarchical: (run) => learned(run, hierarchical),
    supervised,
    'all-or-nothing': (run) => learned(run, right),
    'valid-only': (run) => learned(run, valid),
  },
  metric:
    'gain in the share of sampled answers that are the JSON asked for, keys and values, to the last character',
  budget: { warm: 85, steps: 40 },
  quick: { warm: 2, steps: 1 },
  pairing: 'seed',
  effect: { better: 'hierarchical', than: ['supervised', 'all-or-nothing'], atLeast: 0.03 },
  simplifications: [
    'objects of two keys by a transformer of 21 thousand weights stand for recipes by language models',
  ],
})
