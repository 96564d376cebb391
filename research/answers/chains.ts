import { AgogeError } from 'agoge'
import { createRandom, type Random } from 'agoge/engine'
import type { Question } from './attempts.ts'

/** A vocabulary of single characters: id 0 ends an answer, the characters of the alphabet follow in their order. */
export interface Symbols {
  /** Ids in all. */
  size: number
  end: number
  /** @throws AgogeError `bad-symbol` for a character that is not in the alphabet. */
  encode(text: string): Int32Array
  /** Up to the first end. */
  decode(tokens: ArrayLike<number>): string
}

export function createSymbols(alphabet: string): Symbols {
  const characters = Array.from(alphabet)
  const ids = new Map(characters.map((character, i) => [character, i + 1]))
  return {
    size: characters.length + 1,
    end: 0,
    encode: (text) =>
      Int32Array.from(text, (character) => {
        const id = ids.get(character)
        if (id !== undefined) return id
        throw new AgogeError('A text has a character that the vocabulary lacks', {
          code: 'bad-symbol',
          given: character,
          expected: `one of ${alphabet}`,
        })
      }),
    decode(tokens) {
      let text = ''
      for (let i = 0; i < tokens.length && tokens[i] !== 0; i++) text += characters[tokens[i] - 1]
      return text
    },
  }
}

/** A question of `createChains`: the operations, the digit they begin with, and every digit on the way. */
export interface ChainQuestion extends Question {
  operations: string
  start: number
  steps: number[]
}

/** Questions such as `bc.4=`: apply b, then c to 4. The solution writes every digit on the way, the last one is judged. */
export interface Chains {
  apply(operation: string, digit: number): number
  ask(operations: string, start: number): ChainQuestion
  /** One of `depth` operations; `split` keeps a quarter of all for testing. */
  draw(random: Random, depth: number, split?: 'train' | 'test'): ChainQuestion
  /** So many for testing, no two alike; fewer where there are not so many. */
  test(count: number, depths: readonly number[]): ChainQuestion[]
  /** Characters that questions and solutions are made of. */
  alphabet: string
}

/**
 * The smallest task of reasoning in steps: each operation is a fact to be known (a permutation of the digits, by the seed), a
 * question of many steps is out of reach at a glance and easy step by step. Questions of fewer than `places` operations are filled
 * up by dots, so that what comes next always stands as far back.
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
