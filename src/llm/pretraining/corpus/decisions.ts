import type { ChatMessage } from '../../tokenizer/template.ts'
import {
  between,
  chance,
  distinct,
  type Draw,
  itemName,
  number,
  pick,
  quoted,
  say,
  shuffled,
  word,
} from './draw.ts'
import * as effects from './effects.ts'
import {
  answer,
  ask,
  boxAt,
  type CorpusTask,
  explainWhy,
  leafAt,
  perform,
  request,
  holes,
  step,
  story,
  type Story,
  tell,
} from './tree-task.ts'
import { childrenOf, fieldLines, freshBox, freshLeaf, nameOf, parentOf, type Step } from './tree.ts'

/** Two opposite states of a thing. */
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

/** A text: usually a word, sometimes a state, a name or a number. */
export function statement(d: Draw): string {
  const draw = d.random.next()
  if (draw < 0.55) return word(d)
  if (draw < 0.75) return pick(d, pick(d, opposites))
  if (draw < 0.85) return itemName(d)
  if (draw < 0.92) return number(d)
  return `${word(d)} ${word(d)}`
}

/** A statement other than `than`: its opposite if it has one. */
export function otherStatement(d: Draw, than: string): string {
  const pair = opposites.find((states) => states.some((state) => state === than))
  if (pair !== undefined && chance(d, 0.8)) return pair[0] === than ? pair[1] : pair[0]
  for (;;) {
    const other = than.includes('.') && chance(d, 0.5) ? itemName(d) : statement(d)
    if (other !== than) return other
  }
}

/** Several short questions whether two things are the same. Short answers make each a training example of a decision. */
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
  /** Probability that the rule has three branches. */
  three: number
  /** Templates of a rule with two branches. */
  rule: string
  /** How often the case that the rule names is among the cases. There are four other cases. */
  met: number
  /** Smallest and largest number of cases. */
  rounds: readonly [number, number]
}

/** A rule of two or three branches, followed by several cases. */
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
    const holes = { given: quoted(d, given, 0.4), second: quoted(d, second, 0.4), a, b, c }
    const rule = three
      ? say(
          d,
          'if it [says|is] {given}[,| then|, then] {a}; if it [says|is] {second}[,| then] {b}; [else|otherwise] {c}',
          holes,
        )
      : say(d, how.rule, holes)
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
      const said = say(d, '[it says {it}|it is {it}|{it}]', { it })
      turns.push(
        { role: 'user', text: i === 0 ? `${rule}.\n${said}` : said },
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

/** Like `choosing`, with a plain rule and more cases. */
export const choosingPlainly = choosingBy({ three: 0.1, rule: `[${ifElse}]`, met: 4, rounds: [4, 6] })

/** Two alternatives and a condition for the first, several times with new ones. */
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

/** Two branches that depend on the content of a leaf, or on whether something is in a box. */
const conditional = (weighed: boolean): Story =>
  story((e) => {
    const { d } = e
    const draw = d.random.next()
    const met = chance(d, 0.5)
    let truth = met
    let test: string
    let look: () => Step
    if (draw < 0.6) {
      const path = effects.someLeaf(e)
      const what = leafAt(e, path, 0.25)
      if (draw < 0.4) {
        const text = chance(d, 0.75) ? statement(d) : e.tree.leaves.get(path)!.split('\n')[0]
        e.tree.leaves.set(path, text)
        const parts = text.split(' ')
        const partly = parts.length > 1 && chance(d, 0.6)
        const asked = met ? (partly ? pick(d, parts) : text) : otherStatement(d, text)
        const says = asked === text ? 'says|reads' : 'mentions|has|speaks of'
        test = say(d, `{what} [${met && partly ? says : 'says|mentions|has'}] {asked}`, {
          what,
          asked: quoted(d, asked),
        })
        truth = text.includes(asked)
      } else {
        const text = fieldLines(d, 1 + d.random.int(2))
        e.tree.leaves.set(path, text)
        const line = pick(d, text.split('\n'))
        const [key, found] = [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]
        const other = word(d)
        test = say(
          d,
          '[the {key} [on|in|of] {what} is|{what} says its {key} is|{what} gives the {key} as] {asked}',
          { key, what, asked: quoted(d, met ? found : other, 0.3) },
        )
        truth = met || other === found
      }
      look = () => perform(e, 'read', path)
    } else {
      const box = effects.someBox(e)
      const leaves = childrenOf(e.tree, box).filter(({ isBox }) => !isBox)
      truth = met && leaves.length > 0
      const name = met && leaves.length > 0 ? pick(d, leaves).name : nameOf(freshLeaf(d, e.tree, box))
      test = say(
        d,
        '[there is [a {leaf}|] {name} [in|inside|on] {where}|{where} [has|holds] [a {leaf} named|a {leaf}|] {name}|{name} is [in|inside|on] {where}]',
        holes(e, { name, where: boxAt(e, box) }),
      )
      look = () => perform(e, 'list', box)
    }
    branch(e, test, truth, look(), weighed)
  })

export const condition = conditional(false)

/** Like `condition`, but states the result before acting on it. */
export const weighedCondition = conditional(true)

function branch(e: CorpusTask, test: string, met: boolean, seen: Step, weighed: boolean): void {
  const { d } = e
  const [yes, no] = effects.alternatives(e)
  const before = { boxes: new Set(e.tree.boxes), leaves: new Map(e.tree.leaves) }
  const yesSteps = yes.steps()
  const afterYes = e.tree
  e.tree = before
  const lonely = chance(d, 0.15)
  const noSteps = lonely ? [] : no.steps()
  if (met) e.tree = afterYes
  const all = { test, yes: yes.text, no: no.text }
  ask(
    e,
    request(
      d,
      lonely
        ? say(d, '[if {test}, {yes}|{yes} if {test}|{yes}, but only if {test}|when {test}, {yes}]', all)
        : say(
            d,
            '[if {test}[, then|,| then] {yes}[, otherwise|; otherwise|, else|; if not,|, or else|. if not,] {no}|look whether {test}: if so[,|] {yes}[, otherwise|, if not] {no}|{yes} if {test}[, otherwise|, else|; if not,] {no}|unless {test}, {no}, [otherwise|else] {yes}|check if {test}. if yes, {yes}. if no, {no}]',
            all,
          ),
    ),
  )
  const steps = met ? yesSteps : noSteps
  tell(e, seen)
  for (const [i, each] of steps.entries()) {
    if (weighed && i === 0) explainWhy(e, yesOrNo(met), each)
    else tell(e, each)
  }
  answer(e, 'done')
}

/** Several rules in a row, each with two new boxes of which one must be created. */
export const ruling = story((e) => {
  const { d } = e
  for (let round = between(d, 2, 3); round > 0; round -= 1) {
    const given = statement(d)
    const text = chance(d, 0.5) ? given : otherStatement(d, given)
    const path = shuffled(d, [...e.tree.leaves.keys()])[0]
    e.tree.leaves.set(path, text)
    const [yes, no] = twoBoxes(e)
    const verb = say(d, '[make|add|set up|open|build] [a|the|a new|] {box}', holes(e))
    const all = { what: leafAt(e, path, 0.2), given: quoted(d, given, 0.4), verb, yes, no }
    ask(
      e,
      request(
        d,
        say(
          d,
          '[if {what} [says|reads] {given}[,| then|, then] {verb} {yes}[, otherwise|, else|; if not,|, or else] [{verb} |]{no}|look at {what}: if it says {given}[,|] {verb} {yes}[, otherwise|, else|, if not] {verb} {no}|{verb} {yes} if {what} says {given}[, otherwise|, else|; if not,] {verb} {no}]',
          all,
        ),
      ),
    )
    const seen = step(e, 'read', path)
    explainWhy(e, yesOrNo(seen === given), perform(e, 'make', seen === given ? yes : no))
    answer(e, 'done')
  }
})

/** States the decision before acting: two short steps are easier for a small model than one long one. */
const yesOrNo = (met: boolean): string => (met ? 'yes' : 'no')

/** Two new boxes, half of the time next to each other. */
function twoBoxes(e: CorpusTask): [string, string] {
  const yes = freshBox(e.d, e.tree)
  for (;;) {
    const other = freshBox(e.d, e.tree)
    const no = chance(e.d, 0.5) ? `${parentOf(yes)}/${nameOf(other)}` : other
    if (no !== yes && !e.tree.boxes.has(no)) return [yes, no]
  }
}
