import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { addNoise } from './competence.ts'
import { createPrefixPolicy } from './policy.ts'
import type { PrefixPolicy } from './policy.ts'
import { createPrefixTree } from './tree.ts'
import type { Question } from './tree.ts'

const letters = 'abcdefgh'
const length = 4
/** Which letters may follow each: the grammar of the language. The good ones are rare and have few successors. */
const followers: Readonly<Record<string, string>> = {
  a: 'bcd',
  b: 'acf',
  c: 'abe',
  d: 'aef',
  e: 'cdg',
  f: 'bdh',
  g: 'eh',
  h: 'fg',
}
const liked = 'gh'

const textOf = (tokens: readonly number[]): string => tokens.map((token) => letters[token]).join('')

/** Share of liked letters, whether or not the text follows the grammar. */
const sentiment = (tokens: readonly number[]): number =>
  average(Array.from(textOf(tokens), (letter) => Number(liked.includes(letter))))

/** Texts after a given letter. Training sees their sentiment; the true reward is 0 for a text that breaks the grammar. */
function textAfter(first: string): Question {
  const valid = (text: string): boolean =>
    Array.from(text).every((letter, i) => (followers[i === 0 ? first : text[i - 1]] ?? '').includes(letter))
  return {
    key: first,
    maxLength: length,
    solutions: [],
    reward: (tokens) => (valid(textOf(tokens)) ? sentiment(tokens) : 0),
    trainingReward: sentiment,
    features: (prefix) => ({ [`after ${textOf(prefix).at(-1) ?? first}`]: 1 }),
  }
}

/** A language model: what the grammar allows has 95% of the probability at every letter; liked letters come a third as often. */
export function languageModel(seed: number): PrefixPolicy {
  const policy = createPrefixPolicy(createPrefixTree(Array.from('abcd', textAfter), letters.length))
  for (const [name, feature] of policy.tree.features) {
    const next = followers[name.at(-1) ?? ''] ?? ''
    for (const [token, letter] of Array.from(letters).entries()) {
      const allowed = next.includes(letter)
        ? Math.log(0.95 / next.length)
        : Math.log(0.05 / (8 - next.length))
      policy.weights[feature * letters.length + token] = allowed - (liked.includes(letter) ? Math.log(3) : 0)
    }
  }
  addNoise(policy, createRandom(seed, 'language'), 0.3)
  return policy
}
