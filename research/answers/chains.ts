import { createRandom, type Random } from 'agoge/engine'
import type { Question } from './attempts.ts'

/** A question of `createChains`: the operations, the initial digit, and every intermediate digit. */
export interface ChainQuestion extends Question {
  operations: string
  start: number
  steps: number[]
}

/** Questions such as `bc.4=`: apply b, then c to 4. The solution lists every intermediate digit; the last one is judged. */
export interface Chains {
  apply(operation: string, digit: number): number
  ask(operations: string, start: number): ChainQuestion
  /** Draws a question of `depth` operations; `split` reserves a quarter of all questions for testing. */
  draw(random: Random, depth: number, split?: 'train' | 'test'): ChainQuestion
  /** This many distinct test questions; fewer if there are not enough. */
  test(count: number, depths: readonly number[]): ChainQuestion[]
  /** The characters of questions and solutions. */
  alphabet: string
}

/**
 * The smallest task of multi-step reasoning. Each operation is a fact to learn (a permutation of the digits, by the
 * seed). Long questions are hard to answer at once and easy step by step. Questions of fewer than `places` operations
 * are padded with dots, so that the next operation always stands at the same distance.
 */
export function createChains(seed: number, { operations = 'abcd', places = 3 } = {}): Chains {
  const digits = 10
  const tables = new Map(
    Array.from(operations, (name) => [
      name,
      createRandom(seed, 'chains', name).shuffle(Array.from({ length: digits }, (_, i) => i)),
    ]),
  )
  const apply = (operation: string, digit: number): number => tables.get(operation)?.[digit] ?? digit
  function ask(names: string, start: number): ChainQuestion {
    const steps: number[] = []
    for (const name of names) steps.push(apply(name, steps.at(-1) ?? start))
    const last = String(steps.at(-1) ?? start)
    return {
      prompt: `${names.padEnd(places, '.')}${start}=`,
      solution: steps.join(''),
      judge: (answer) => Number(answer.endsWith(last)),
      operations: names,
      start,
      steps,
    }
  }
  const isTest = (prompt: string): boolean => createRandom('chains-split', prompt).next() < 0.25
  function draw(random: Random, depth: number, split: 'train' | 'test' = 'train'): ChainQuestion {
    for (;;) {
      const names = Array.from({ length: depth }, () => random.pick(Array.from(operations))).join('')
      const question = ask(names, random.int(digits))
      if (isTest(question.prompt) === (split === 'test')) return question
    }
  }
  return {
    apply,
    ask,
    draw,
    alphabet: `${operations}0123456789.=`,
    test(count, depths) {
      const random = createRandom(seed, 'chains-test')
      const found = new Map<string, ChainQuestion>()
      for (let tries = 0; found.size < count && tries < 20 * count; tries++) {
        const question = draw(random, depths[tries % depths.length], 'test')
        found.set(question.prompt, question)
      }
      return [...found.values()]
    },
  }
}
