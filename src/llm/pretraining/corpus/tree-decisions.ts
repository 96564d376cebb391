import { otherStatement, statement } from './decisions.ts'
import { between, chance, pick, quoted, say, shuffled, word } from './draw.ts'
import * as effects from './effects.ts'
import {
  answer,
  ask,
  boxAt,
  leafAt,
  perform,
  request,
  slots,
  step,
  story,
  tell,
  explainWhy,
} from './tree-task.ts'
import type { CorpusTask, Story } from './tree-task.ts'
import { childrenOf, fieldLines, freshBox, freshLeaf, nameOf, parentOf } from './tree.ts'
import type { Step } from './tree-tools.ts'

/** Two branches that hang on what a leaf says, or on whether something is in a box. */
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
        slots(e, { name, where: boxAt(e, box) }),
      )
      look = () => perform(e, 'list', box)
    }
    branch(e, test, truth, look(), weighed)
  })

export const condition = conditional(false)

/** As `condition`, the verdict said before acting on it. */
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
    if (weighed && i === 0) explainWhy(e, verdict(met), each)
    else tell(e, each)
  }
  answer(e, 'done')
}

/** Several rules one after the other, each with two new boxes of which one is to be made. */
export const ruling = story((e) => {
  const { d } = e
  for (let round = between(d, 2, 3); round > 0; round -= 1) {
    const given = statement(d)
    const text = chance(d, 0.5) ? given : otherStatement(d, given)
    const path = shuffled(d, [...e.tree.leaves.keys()])[0]
    e.tree.leaves.set(path, text)
    const [yes, no] = twoBoxes(e)
    const verb = say(d, '[make|add|set up|open|build] [a|the|a new|] {box}', slots(e))
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
    explainWhy(e, verdict(seen === given), perform(e, 'make', seen === given ? yes : no))
    answer(e, 'done')
  }
})

/** Said before acting on it: two short steps are easier than one long one for a small model. */
const verdict = (met: boolean): string => (met ? 'yes' : 'no')

/** Two new boxes, half of the time side by side. */
function twoBoxes(e: CorpusTask): [string, string] {
  const yes = freshBox(e.d, e.tree)
  for (;;) {
    const other = freshBox(e.d, e.tree)
    const no = chance(e.d, 0.5) ? `${parentOf(yes)}/${nameOf(other)}` : other
    if (no !== yes && !e.tree.boxes.has(no)) return [yes, no]
  }
}
