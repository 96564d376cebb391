import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { array, assert, constantFrom, oneof, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { baseModelFolder } from '../../checkpoint/checkpoint.ts'
import { createTokenizer } from '../../tokenizer/tokenizer.ts'
import { tokenizerFromJson } from '../../tokenizer/tokenizer-json.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { reasoningKinds } from './kinds/index.ts'
import { type Problem, splitOfKey } from './kind.ts'

const splits = ['train', 'validation', 'test'] as const
const tokenizer = createTokenizer(
  tokenizerFromJson(readFileSync(join(baseModelFolder, 'tokenizer.json'), 'utf8')),
)
/** Room for the question and for the reply in the window of the small model. */
const mostTokens = { question: 256, reply: 240 }

const everyLevel = reasoningKinds.flatMap((kind) =>
  kind.levels.map((_, i) => ({ kind, level: i + 1, name: kind.name })),
)
const severalRight = new Set([
  'countdown',
  'shortest-path',
  'hanoi',
  'knapsack',
  'coin-change',
  'implication-chain',
])
const seeds = [0, 1, 2, 3, 4, 5, 6, 7]

test('at least twenty kinds, each with three levels, controls in range and a name of its own', () => {
  expect(reasoningKinds.length).toBeGreaterThanOrEqual(20)
  expect(new Set(reasoningKinds.map(({ name }) => name)).size).toBe(reasoningKinds.length)
  for (const { levels, knobs } of reasoningKinds) {
    expect(levels).toHaveLength(3)
    for (const level of levels) expect(Object.keys(level).sort()).toEqual(Object.keys(knobs).sort())
  }
})

test.each(everyLevel)('$name, level $level: the oracle is right, in every spelling', ({ kind, level }) => {
  for (const seed of seeds) {
    const problem = kind.generate(createRandom(seed), level)
    const { answer, text } = problem.solve()
    const spellings = [
      text,
      answer,
      `  ${answer}  `,
      `${answer}.`,
      `"${answer}"`,
      `The answer is ${answer}.`,
      `the answer is: ${answer}`,
      `So the final answer is **${answer}**`,
      `Let me think.\n1 + 1 = 2\nAnswer: ${answer}\n`,
      `<answer> ${answer} </answer>`,
      `Hence \\boxed{${answer}}.`,
      answer.toLowerCase(),
    ]
    for (const reply of spellings) expect([problem.question, reply, problem.verify(reply)][2], reply).toBe(1)
  }
})

test.each(everyLevel)(
  '$name, level $level: wrong answers are worth less, garbage nothing',
  ({ kind, level }) => {
    const garbage = [
      '',
      ' \n ',
      '???',
      'lorem ipsum dolor sit amet',
      '{"name":"read","arguments":{}}',
      'undefined NaN null __proto__ constructor',
      '=== --- ((( )))',
      '١٢٣ 三 ½ ∞',
      'x'.repeat(20_000),
      '('.repeat(20_000),
      'Answer:',
    ]
    for (const seed of seeds) {
      const problem = kind.generate(createRandom(seed), level)
      const { answer } = problem.solve()
      for (const reply of garbage) expect(problem.verify(reply), `${answer} | ${reply.slice(0, 40)}`).toBe(0)
      for (const reply of [`${answer} 1`, `1${answer}`, `Answer: 1${answer}`, `${answer} or not`])
        expect(problem.verify(reply), `${problem.question} | ${reply}`).toBeLessThan(1)
    }
  },
)

test('for every reply the score is in [0, 1] and nothing is thrown', () => {
  const problems = everyLevel.map(({ kind, level }) => kind.generate(createRandom(9), level))
  const alphabet = [
    ...'0123456789+-*/=()[]{}<>,.: \nabcxyzABCUDLR'.split(''),
    'answer ',
    '\\boxed{',
    ' is ',
    'yes',
    'knight',
  ]
  const reply = oneof(
    string(),
    array(constantFrom(...alphabet)).map((parts) => parts.join('')),
  )
  assert(
    property(reply, (text) => {
      for (const problem of problems) {
        const score = problem.verify(text)
        expect(score >= 0 && score <= 1).toBe(true)
      }
    }),
    { seed: 5, numRuns: 60 },
  )
})

test('only the kinds in which several answers are right take the answer of another question', () => {
  for (const { kind, level } of everyLevel) {
    const problems = seeds.map((seed) => kind.generate(createRandom(seed, 'others'), level))
    if (severalRight.has(kind.name)) continue
    for (const problem of problems) {
      for (const other of problems) {
        const same = other.solve().answer === problem.solve().answer
        expect(problem.verify(other.solve().answer) === 1, `${kind.name}: ${problem.question}`).toBe(same)
      }
    }
  }
})

test('the same random stream gives the same question, another stream another one', () => {
  for (const { kind, level } of everyLevel) {
    const make = (seed: number): Problem => kind.generate(createRandom(seed), level)
    const plain = ({ kind: name, question, key, difficulty, solve }: Problem): unknown => [
      name,
      question,
      key,
      difficulty,
      solve(),
    ]
    expect(plain(make(3))).toEqual(plain(make(3)))
    expect(new Set(seeds.map((seed) => make(seed).question)).size).toBeGreaterThan(seeds.length / 2)
  }
})

test('the hash of the key decides the split, and a question determines its key', () => {
  for (const { kind, level } of everyLevel) {
    const keys = new Map<string, string>()
    for (const split of splits) {
      for (const seed of seeds) {
        const { key } = kind.generate(createRandom(seed, split), level, split)
        expect(splitOfKey(kind.name, key)).toBe(split)
      }
    }
    // The holes are all of an instance that a question shows: if they determine the key, no template can ask it in two splits.
    for (let seed = 0; seed < 60; seed++) {
      const { key, holes } = kind.draw(createRandom(seed, 'keys'), kind.levels[level - 1])
      const shown = JSON.stringify(holes)
      expect(keys.get(shown) ?? key, shown).toBe(key)
      keys.set(shown, key)
    }
  }
})

test('no question is in two splits', () => {
  for (const { kind, level } of everyLevel) {
    const asked = new Map<string, string>()
    for (const split of splits) {
      for (let seed = 0; seed < 25; seed++) {
        const { question, key } = kind.generate(createRandom(seed, 'asked'), level, split)
        expect(asked.get(key) ?? split, question).toBe(split)
        asked.set(key, split)
      }
    }
  }
})

test('the hash divides random keys in the documented shares', () => {
  const counts = { train: 0, validation: 0, test: 0 }
  for (let i = 0; i < 4000; i++) counts[splitOfKey('countdown', `key ${i}`)]++
  expect(counts.train / 4000).toBeCloseTo(0.7, 1)
  expect(counts.validation / 4000).toBeCloseTo(0.12, 1)
  expect(counts.test / 4000).toBeCloseTo(0.18, 1)
})

test('every split has prompt templates, and the unseen ones are not among them', () => {
  for (const { name, templates, unseen } of reasoningKinds) {
    for (const split of splits) expect(templates.of(split).length, `${name} ${split}`).toBeGreaterThan(0)
    expect(unseen.length, name).toBeGreaterThan(0)
    for (const paraphrase of unseen) expect(templates.all.some(({ text }) => text === paraphrase)).toBe(false)
  }
})

test('questions and replies fit into the window of the small model', () => {
  for (const { kind, level, name } of everyLevel) {
    for (let seed = 0; seed < 25; seed++) {
      const problem = kind.generate(
        createRandom(seed, 'tokens'),
        level,
        seed % 5 === 0 ? 'unseen-paraphrase' : 'train',
      )
      const tokens = [problem.question, problem.solve().text].map((text) => tokenizer.encode(text).length)
      expect(tokens[0], `${name} ${level}: ${problem.question}`).toBeLessThanOrEqual(mostTokens.question)
      expect(tokens[1], `${name} ${level}: ${problem.solve().text}`).toBeLessThanOrEqual(mostTokens.reply)
    }
  }
})

test('every control works at both ends of its range', () => {
  for (const { levels, knobs, generate, name } of reasoningKinds) {
    for (const [knob, { least, most }] of Object.entries(knobs)) {
      for (const value of [least, most]) {
        // The easiest level is left as it is otherwise; where a control alone leaves too little, that is said.
        const made = ((): Problem | string => {
          try {
            return generate(createRandom(1, knob), { ...levels[1], [knob]: value })
          } catch (error) {
            return (error as { code: string }).code
          }
        })()
        if (typeof made === 'string') expect(made, `${name} ${knob}=${value}`).toBe('bad-difficulty')
        else expect(made.verify(made.solve().text), `${name} ${knob}=${value}`).toBe(1)
      }
    }
  }
})

test('every level has many different questions', () => {
  for (const { kind, level } of everyLevel) {
    const draw = (seed: number): string =>
      kind.draw(createRandom(seed, 'different'), kind.levels[level - 1]).key
    const keys = new Set(Array.from({ length: 160 }, (_, seed) => draw(seed)))
    expect(keys.size, `${kind.name} ${level}`).toBeGreaterThan(80)
  }
})

test('an unknown difficulty is refused with its name', () => {
  const [countdown] = reasoningKinds
  const random = createRandom(1)
  expect(() => countdown.generate(random, 4)).toThrow('no level 4')
  expect(() => countdown.generate(random, { ...countdown.levels[0], numbers: 1 })).toThrow('numbers = 1')
  expect(() => countdown.generate(random, { ...countdown.levels[0], numbers: 2.5 })).toThrow('numbers = 2.5')
  expect(() => countdown.generate(random, { ...countdown.levels[0], size: 3 })).toThrow('"size"')
  expect(() => countdown.generate(random, { numbers: 3 })).toThrow('largest = undefined')
})
