import { defineKind } from '../kind.ts'
import { several } from '../shared/draws.ts'
import { itemsOf, partly } from '../shared/scores.ts'

/** "If the first then the second". */
type Rule = readonly [string, string]

const letters = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ')

/** A proof by modus ponens: the chain of letters from what is known to the goal, or "no" where there is none. */
export const implicationChain = defineKind({
  name: 'implication-chain',
  about: 'a proof of a goal from a fact by rules, as the chain of statements',
  knobs: {
    length: { least: 1, most: 8, about: 'of the proof, in rules' },
    others: { least: 0, most: 10, about: 'rules that lead elsewhere' },
    broken: { least: 0, most: 50, about: 'per cent of questions without a proof' },
  },
  levels: [
    { length: 2, others: 1, broken: 0 },
    { length: 3, others: 3, broken: 20 },
    { length: 5, others: 6, broken: 20 },
  ],
  templates: [
    '<rules> <fact> is true. [Prove <goal>|Show that <goal> is true|Derive <goal>]: [give|write] the chain from <fact> to <goal>, or no if there is none',
    '[Known:|Given:] <rules> <fact> holds. [How does|How can] <goal> follow? [Give|Write] the chain of letters, or no',
  ],
  unseen: ['<rules> Somebody tells us <fact>. Lead us letter by letter to <goal>, or say no'],
  draw(random, { length, others, broken }) {
    const names = several(random, letters, Math.min(26, length + 1 + others))
    const chain = names.slice(0, length + 1)
    const rules: Rule[] = chain.slice(1).map((name, i) => [chain[i], name])
    for (let i = 0; i < others; i++) {
      const end = names[length + 1 + i] ?? names[0]
      // Elsewhere never leads back into the chain, so that the proof is the only way.
      const from = names.slice(0, Math.min(names.length, length + 1 + i))
      rules.push([random.pick(from), end])
    }
    if (random.next() * 100 < broken) {
      const [, end] = rules[length - 1]
      rules[length - 1] = [names.at(-1) === end ? chain[length] : (names.at(-1) as string), end]
    }
    return {
      rules: random.shuffle(rules.filter(([from, to]) => from !== to)),
      fact: chain[0],
      goal: chain[length],
    }
  },
  pose({ rules, fact, goal }) {
    const chain = prove(rules, fact, goal)
    const lines = rules.map(([from, to]) => `If ${from} then ${to}.`)
    return {
      key: `${[...lines].sort().join(' ')} ${fact} -> ${goal}`,
      holes: { rules: lines.join(' '), fact, goal },
      thought: [],
      answer: chain === undefined ? 'no' : chain.join(' '),
      score(given) {
        if (chain === undefined) return /^no$/i.test(given) ? 1 : 0
        const said = itemsOf(given.replaceAll(/[->→]+/g, ' ')).map((name) => name.toUpperCase())
        if (said[0] !== fact || said.length > 60) return 0
        const valid = said.findIndex(
          (name, i) => i > 0 && !rules.some(([from, to]) => from === said[i - 1] && to === name),
        )
        if (valid < 0 && said.at(-1) === goal) return 1
        // The fact itself is no step of a proof.
        const right = (valid < 0 ? said.length : valid) - 1
        return chain.slice(0, right + 1).join() === said.slice(0, right + 1).join()
          ? partly(Math.min(right, chain.length - 2) / (chain.length - 1))
          : 0
      },
    }
  },
})

/** The shortest chain of rules from the fact to the goal; undefined where there is none. */
function prove(rules: readonly Rule[], fact: string, goal: string): string[] | undefined {
  const chains = [[fact]]
  const reached = new Set([fact])
  for (const chain of chains) {
    const last = chain.at(-1) as string
    if (last === goal) return chain
    for (const [from, to] of rules) {
      if (from !== last || reached.has(to)) continue
      reached.add(to)
      chains.push([...chain, to])
    }
  }
  return undefined
}
