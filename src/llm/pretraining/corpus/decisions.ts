import type { ChatMessage } from '../../tokenizer/template.ts'
import { between, chance, distinct, itemName, number, pick, quoted, say, shuffled, word } from './draw.ts'
import type { Draw } from './draw.ts'

/** Two states of which a thing is in one. */
const opposites = [
  ['on', 'off'],
  ['full', 'empty'],
  ['hot', 'cold'],
  ['wet', 'dry'],
  ['up', 'down'],
  ['left', 'right'],
  ['high', 'low'],
  ['clean', 'dirty'],
  ['early', 'late'],
  ['old', 'new'],
  ['fast', 'slow'],
  ['loud', 'quiet'],
  ['free', 'taken'],
  ['locked', 'loose'],
  ['true', 'false'],
  ['right', 'wrong'],
  ['ready', 'busy'],
] as const

/** What something may say: mostly a word, now and then a state, a name, a number. */
export function statement(d: Draw): string {
  const draw = d.random.next()
  if (draw < 0.55) return word(d)
  if (draw < 0.75) return pick(d, pick(d, opposites))
  if (draw < 0.85) return itemName(d)
  if (draw < 0.92) return number(d)
  return `${word(d)} ${word(d)}`
}

/** Another statement than `than`: its opposite where it has one. */
export function otherStatement(d: Draw, than: string): string {
  const pair = opposites.find((states) => states.some((state) => state === than))
  if (pair !== undefined && chance(d, 0.8)) return pair[0] === than ? pair[1] : pair[0]
  for (;;) {
    const other = than.includes('.') && chance(d, 0.5) ? itemName(d) : statement(d)
    if (other !== than) return other
  }
}

/** Several short questions whether two things are the same. Short answers make each of them a lesson in deciding. */
export function comparing(d: Draw): ChatMessage[] {
  const [yes, no] = pick(d, [
    ['yes', 'no'],
    ['yes', 'no'],
    ['same', 'different'],
  ] as const)
  const how = pick(d, ['is {a} {b}?', '{a} and {b}', '{a} = {b}?', 'is it {a}? it is {b}'])
  const opener = yes === 'yes' ? '[same or not:|equal?|the same word?] ' : '[same or different:|compare:] '
  const turns: ChatMessage[] = []
  const rounds = between(d, 3, 6)
  for (let i = 0; i < rounds; i += 1) {
    const a = statement(d)
    const same = chance(d, 0.5)
    const b = same ? a : otherStatement(d, a)
    turns.push(
      { role: 'user', text: say(d, `${i === 0 ? opener : ''}${how}`, { a, b }) },
      { role: 'assistant', text: same ? yes : no },
    )
  }
  return turns
}

interface Choosing {
  /** How often the rule has three branches. */
  three: number
  /** Ways to tell a rule of two branches. */
  rule: string
  /** How often what the rule names is among the cases, of which there are four others. */
  met: number
  /** How many cases are told. */
  rounds: readonly [number, number]
}

/** A rule of two or three branches, then what is the case, several times. */
const choosingBy =
  (how: Choosing) =>
  (d: Draw): ChatMessage[] => {
    const three = chance(d, how.three)
    const given = statement(d)
    const second = otherStatement(d, given)
    const outcomes = distinct(3, () =>
      chance(d, 0.7) ? word(d) : chance(d, 0.5) ? itemName(d) : statement(d),
    )
    const [a, b, c] = outcomes as [string, string, string]
    const slots = { given: quoted(d, given, 0.4), second: quoted(d, second, 0.4), a, b, c }
    const rule = three
      ? say(
          d,
          'if it [says|is] {given}[,| then|, then] {a}; if it [says|is] {second}[,| then] {b}; [else|otherwise] {c}',
          slots,
        )
      : say(d, how.rule, slots)
    const outcome = (seen: string): string =>
      seen === given ? a : three && seen === second ? b : three ? c : b
    const seen = shuffled(d, [
      given,
      second,
      ...Array.from({ length: 3 }, () => otherStatement(d, given)),
      ...Array.from({ length: how.met - 1 }, () => given),
    ])
    const turns: ChatMessage[] = []
    for (const [i, it] of seen.slice(0, between(d, ...how.rounds)).entries()) {
      const told = say(d, '[it says {it}|it is {it}|{it}]', { it })
      turns.push(
        { role: 'user', text: i === 0 ? `${rule}.\n${told}` : told },
        { role: 'assistant', text: outcome(it) },
      )
    }
    return turns
  }

const ifElse =
  'if it [says|is] {given}[,| then|, then] {a}[, otherwise|, else|; if not,|, or else] {b}|{a} if it [says|is] {given}[, otherwise|, else] {b}'

export const choosing = choosingBy({
  three: 0.25,
  rule: `[${ifElse}|unless it [says|is] {given}, {b}, [otherwise|else] {a}|{given} means {a}, [anything else|all else] {b}]`,
  met: 2,
  rounds: [2, 5],
})

/** As `choosing`, by a plain rule and for more cases. */
export const choosingPlainly = choosingBy({ three: 0.1, rule: `[${ifElse}]`, met: 4, rounds: [4, 6] })

/** Two ways, and whether the first is to be taken, several times with new ones. */
export function picking(d: Draw): ChatMessage[] {
  const turns: ChatMessage[] = []
  for (let round = between(d, 4, 6); round > 0; round -= 1) {
    const [a, b] = distinct(2, () =>
      chance(d, 0.4) ? word(d) : chance(d, 0.5) ? `/${word(d)}` : `/${word(d)}/${itemName(d)}`,
    ) as [string, string]
    const met = chance(d, 0.5)
    const said = met ? 'yes' : 'no'
    const rule =
      '[if so[,|] {a}[, otherwise|, else|; if not,|, if not|, or else] {b}|{a} if so[, otherwise|, else|, if not,] {b}|if yes[,| then] {a}[,|;] if no[,| then] {b}|yes: {a}, no: {b}]'
    turns.push(
      { role: 'user', text: `${say(d, rule, { a, b })}\n${said}` },
      { role: 'assistant', text: met ? a : b },
    )
  }
  return turns
}
