import type { Random } from '../../../../engine/random/index.ts'
import { defineKind, itemsOf, partly, scoreNumber, scoreWord } from '../kind.ts'
import { kinds, listed, please, several, until } from '../shared/draws.ts'
import {
  assignments,
  drawFormula,
  holds,
  printFormula,
  reduceFormula,
  substitute,
} from '../shared/expressions.ts'
import type { Formula } from '../shared/expressions.ts'

/** A statement about two kinds, by index. */
interface Statement {
  form: 'all' | 'no' | 'some' | 'some not'
  subject: number
  predicate: number
}

/** Does the conclusion follow from statements about kinds of things? Asked only where it does not matter whether a kind may be empty. */
export const syllogism = defineKind({
  name: 'syllogism',
  about: 'whether a conclusion follows from statements with all, no and some',
  knobs: { kinds: { least: 3, most: 6, about: 'of things; one statement fewer' } },
  levels: [{ kinds: 3 }, { kinds: 4 }, { kinds: 5 }],
  templates: [
    '<premises> [Does it follow that|Is it certain that|Can one conclude that|Must it be that] <conclusion>? [Answer yes or no|Yes or no]',
    '[Suppose that this is true:|Given:] <premises> [Does it follow that|Is it certain that] <conclusion>, yes or no',
  ],
  unseen: ['Take for granted: <premises> Would a careful reader have to grant that <conclusion>, yes or no'],
  draw(random, { kinds: size }) {
    const names = several(random, kinds, size)
    const wanted = random.int(2) === 0
    return until(() => {
      const premises = Array.from({ length: size - 1 }, (_, i) => drawStatement(random, i, i + 1))
      const conclusion = drawStatement(random, 0, size - 1)
      const strict = follows(premises, conclusion, size, false)
      const loose = follows(premises, conclusion, size, true)
      return strict === loose && strict === wanted && isConsistent(premises, size)
        ? { names, premises: random.shuffle(premises), conclusion }
        : undefined
    })
  },
  pose({ names, premises, conclusion }) {
    const size = names.length
    const answer = follows(premises, conclusion, size, false) ? 'yes' : 'no'
    const lines = premises.map((premise) => sayStatement(premise, names))
    return {
      key: `${[...lines].sort().join('. ')} -> ${sayStatement(conclusion, names)}`,
      holes: {
        premises: lines.map((line) => `${line.charAt(0).toUpperCase()}${line.slice(1)}.`).join(' '),
        conclusion: sayStatement(conclusion, names),
      },
      thought: links(premises, conclusion, names),
      answer,
      score: (given) => scoreWord(given, answer),
    }
  },
})

function drawStatement(random: Random, one: number, other: number): Statement {
  const [subject, predicate] = random.int(3) === 0 ? [other, one] : [one, other]
  return { form: random.pick(['all', 'all', 'no', 'some', 'some not']), subject, predicate }
}

function sayStatement({ form, subject, predicate }: Statement, names: readonly string[]): string {
  const [first, ...rest] = form.split(' ')
  return `${first} ${names[subject]} are ${[...rest, names[predicate]].join(' ')}`
}

const within = (region: number, kind: number): boolean => ((region >> kind) & 1) === 1

/** The regions of Venn's diagram that a statement speaks of: what `all` and `no` empty, what `some` fills. */
function speaksOf({ form, subject, predicate }: Statement, region: number): boolean {
  const inside = form === 'no' || form === 'some'
  return within(region, subject) && within(region, predicate) === inside
}

const isUniversal = ({ form }: Statement): boolean => form === 'all' || form === 'no'

/** Regions that the universal statements leave open. */
function openRegions(premises: readonly Statement[], size: number): number[] {
  const universal = premises.filter(isUniversal)
  return Array.from({ length: 2 ** size }, (_, region) => region).filter(
    (region) => !universal.some((premise) => speaksOf(premise, region)),
  )
}

/** Sets of regions of which each has something in it: by the particular statements, and, if so assumed, by every kind. */
function inhabited(premises: readonly Statement[], size: number, kindsExist: boolean): number[][] {
  const open = openRegions(premises, size)
  const filled = premises
    .filter((premise) => !isUniversal(premise))
    .map((premise) => open.filter((region) => speaksOf(premise, region)))
  const all = Array.from({ length: size }, (_, kind) => open.filter((region) => within(region, kind)))
  return kindsExist ? [...filled, ...all] : filled
}

const isConsistent = (premises: readonly Statement[], size: number): boolean =>
  inhabited(premises, size, true).every((regions) => regions.length > 0)

/**
 * A universal conclusion follows where all that it denies is closed. A particular one follows where something is known to be
 * in a set of regions of which each is among those it speaks of.
 */
function follows(
  premises: readonly Statement[],
  conclusion: Statement,
  size: number,
  kindsExist: boolean,
): boolean {
  if (isUniversal(conclusion))
    return !openRegions(premises, size).some((region) => speaksOf(conclusion, region))
  return inhabited(premises, size, kindsExist).some((regions) =>
    regions.every((region) => speaksOf(conclusion, region)),
  )
}

/** The premises one after another, as a chain from the conclusion's one kind to the other. */
function links(premises: readonly Statement[], conclusion: Statement, names: readonly string[]): string[] {
  const start = Math.min(conclusion.subject, conclusion.predicate)
  const order = [...premises].sort(
    (a, b) => Math.min(a.subject, a.predicate) - Math.min(b.subject, b.predicate),
  )
  return order.map((premise) => sayStatement(premise, names)).slice(start)
}

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

const variables = ['p', 'q', 'r', 's'] as const

/** The truth of a formula under given truths of its letters. */
export const booleanValue = defineKind({
  name: 'boolean-value',
  about: 'whether a formula of propositional logic is true for given values',
  knobs: {
    letters: { least: 2, most: 4, about: 'that occur' },
    connectives: { least: 2, most: 7, about: 'and, or, implies' },
  },
  levels: [
    { letters: 2, connectives: 2 },
    { letters: 3, connectives: 3 },
    { letters: 4, connectives: 5 },
  ],
  templates: [
    '[Is|Say whether|Decide whether|Tell me whether] <formula> [is|comes out] true or false, [if|when|where] <values>',
    `${please}[evaluate|work out] <formula>, [where|given that] <values>`,
    '[Let|Suppose] <values>. [Is|What is] <formula>, true or false',
  ],
  unseen: ['With <values>, does <formula> hold? Say true or false'],
  draw(random, { letters: count, connectives }) {
    const used = variables.slice(0, count)
    const truths = Object.fromEntries(used.map((letter) => [letter, random.int(2) === 0]))
    return { formula: drawFormula(random, used, connectives), truths }
  },
  pose({ formula, truths }: { formula: Formula; truths: Record<string, boolean> }) {
    const answer = String(holds(formula, truths))
    const values = listed(Object.entries(truths).map(([letter, truth]) => `${letter} is ${truth}`))
    const steps: string[] = []
    for (
      let next: Formula | undefined = substitute(formula, truths);
      next !== undefined;
      next = reduceFormula(next)
    )
      steps.push(printFormula(next))
    return {
      key: `${printFormula(formula)}: ${values}`,
      holes: { formula: printFormula(formula), values },
      thought: steps,
      answer,
      score: (given) => scoreWord(given, answer),
    }
  },
})

const names = ['p', 'q', 'r'] as const

/** How many rows of its truth table a formula is true in. */
export const truthTable = defineKind({
  name: 'truth-table',
  about: 'how many assignments make a formula true',
  knobs: {
    letters: { least: 2, most: 3, about: 'that occur' },
    connectives: { least: 2, most: 6, about: 'and, or, implies' },
  },
  levels: [
    { letters: 2, connectives: 2 },
    { letters: 2, connectives: 3 },
    { letters: 3, connectives: 4 },
  ],
  templates: [
    '[How many|Tell me how many|Count how many] [values|truth values|assignments] of <letters> make <formula> true',
    `${please}count the rows of the truth table in which <formula> is true, [for|over|with] <letters>`,
    '[In how many|How many] of the <rows> [cases|rows] of <letters> is <formula> true',
  ],
  unseen: ['Over <letters>, <rows> rows belong to <formula>. State the number of those that come out true'],
  draw: (random, { letters, connectives }) => ({
    letters: names.slice(0, letters),
    formula: drawFormula(random, names.slice(0, letters), connectives),
  }),
  pose({ letters, formula }: { letters: readonly string[]; formula: Formula }) {
    const rows = assignments(letters)
    const count = rows.filter((row) => holds(formula, row)).length
    const short = (truth: boolean): string => (truth ? 'T' : 'F')
    return {
      key: printFormula(formula),
      holes: { formula: printFormula(formula), letters: listed(letters), rows: String(rows.length) },
      thought: rows.map(
        (row) => `${letters.map((letter) => short(row[letter])).join(' ')}: ${short(holds(formula, row))}`,
      ),
      answer: String(count),
      score: (given) => scoreNumber(given, count),
    }
  },
})
