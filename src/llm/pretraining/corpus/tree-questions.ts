import { parseOwnJson } from '../../../untrusted/own-json.ts'
import { chance, pick, quoted, say, shortLine, word } from './draw.ts'
import { otherStatement, statement } from './decisions.ts'
import * as effects from './effects.ts'
import { answer, ask, boxAt, leafAt, request, rootOf, holes, step, story } from './tree-task.ts'
import { childrenOf, clueFor, fieldLines, freshLeaf, nameOf, parentOf } from './tree.ts'

/** Read a leaf, answer with its exact text. */
export const readBack = story((e) => {
  const path = effects.someLeaf(e)
  ask(
    e,
    request(
      e.d,
      say(
        e.d,
        '[show|tell|give] me [what is [written|noted|] [on|in]|the wording of|the words of|what stands in|] {what}|[what does {what} say|what is on {what}|what stands on {what}|recite {what}|read out {what}|let me see {what}|look at {what} and say what it says|open {what} and give me the words]',
        { what: leafAt(e, path) },
      ),
    ),
  )
  answer(e, step(e, 'read', path))
})

/** Read a leaf of fields or lines, answer with one of them. */
export const readPart = story((e) => {
  const { d } = e
  const path = effects.someLeaf(e)
  const what = leafAt(e, path)
  if (chance(d, 0.6)) {
    const text = fieldLines(d, 1 + d.random.int(3))
    e.tree.leaves.set(path, text)
    const line = pick(d, text.split('\n'))
    const at = line.indexOf(': ')
    ask(
      e,
      request(
        d,
        say(
          d,
          '[what is the {key} [on|in|of] {what}|tell me the {key} [on|in|from] {what}|give me the {key} {what} has|look up the {key} [on|in] {what}|which {key} does {what} [say|have|give]]',
          { key: line.slice(0, at), what },
        ),
      ),
    )
    step(e, 'read', path)
    answer(e, line.slice(at + 2))
    return
  }
  const lines = [1, 2, 3, 4]
    .slice(0, 2 + d.random.int(3))
    .map(() => (chance(d, 0.5) ? word(d) : shortLine(d)))
  e.tree.leaves.set(path, lines.join('\n'))
  const counting = chance(d, 0.3)
  const at = d.random.int(lines.length)
  const which =
    at === lines.length - 1 && chance(d, 0.6) ? 'last' : (['first', 'second', 'third', 'fourth'] as const)[at]
  ask(
    e,
    request(
      d,
      counting
        ? say(
            d,
            '[how many lines [are [on|in] {what}|does {what} have]|count the lines [on|in|of] {what}|tell me the number of lines [on|in] {what}]',
            { what },
          )
        : say(d, '[what is|tell me|give me|i need] the {which} line [on|in|of] {what}', { which, what }),
    ),
  )
  step(e, 'read', path)
  answer(e, counting ? String(lines.length) : lines[at])
})

/** Read a leaf, answer whether it says something; then more such questions that need no further call. */
export const doesItSay = story((e) => {
  const { d } = e
  const path = effects.someLeaf(e)
  const text = chance(d, 0.8) ? statement(d) : e.tree.leaves.get(path)!.split('\n')[0]
  e.tree.leaves.set(path, text)
  const asked = (): string => (chance(d, 0.5) ? text : otherStatement(d, text))
  const yesOrNo = (what: string): string => (what === text ? 'yes' : 'no')
  const first = asked()
  ask(
    e,
    request(
      d,
      say(
        d,
        '[is {asked} what {what} says|does {what} say {asked}|look whether {what} says {asked}|does it say {asked} [on|in] {what}]',
        { what: leafAt(e, path, 0.25), asked: quoted(d, first, 0.4) },
      ),
    ),
  )
  step(e, 'read', path)
  answer(e, yesOrNo(first))
  for (let more = d.random.int(3); more > 0; more -= 1) {
    const next = asked()
    ask(e, say(d, '[does it say {next}|and {next}|is it {next}]?', { next: quoted(d, next, 0.3) }))
    answer(e, yesOrNo(next))
  }
})

/** List a box: count all, count a kind, say whether something is there, or name the first or last. */
export const askOfBox = story((e) => {
  const { d } = e
  const box = chance(d, 0.1) ? '' : effects.someBox(e)
  const drawn = d.random.int(5)
  const extra = box === '' ? 0 : drawn
  for (let i = 0; i < extra; i += 1) e.tree.leaves.set(freshLeaf(d, e.tree, box), shortLine(d))
  const children = childrenOf(e.tree, box)
  const leaves = children.filter(({ isBox }) => !isBox)
  const where = boxAt(e, box)
  const all = holes(e, { where })
  const draw = d.random.next()
  const list = (): string => step(e, 'list', rootOf(box))
  if (draw < 0.55) {
    const kind = d.random.int(4)
    const [noun, count] =
      kind === 0
        ? [pick(d, ['things', 'names', 'entries']), children.length]
        : kind === 1
          ? [e.of.box[1], children.length - leaves.length]
          : [e.of.leaf[1], leaves.length]
    ask(
      e,
      request(
        d,
        say(
          d,
          '[how many {noun} [are|are there|do you see|stand|lie] [in|inside|on|under] {where}|count the {noun} [in|of|inside] {where}|what is the number of {noun} [in|inside] {where}|tell me how many {noun} {where} [has|holds]]',
          { ...all, noun },
        ),
      ),
    )
    list()
    answer(e, String(count))
  } else if (draw < 0.75) {
    const there = chance(d, 0.5) && leaves.length > 0
    const name = there ? pick(d, leaves).name : nameOf(freshLeaf(d, e.tree))
    ask(
      e,
      request(
        d,
        say(
          d,
          '[is there [a {leaf}|something] [called|named|] {name} [in|inside|on] {where}|does {where} [have|hold] [a {leaf}|something] [called|named] {name}|check whether {name} is [in|inside|on] {where}]',
          { ...all, name },
        ),
      ),
    )
    list()
    answer(e, leaves.some((leaf) => leaf.name === name) ? 'yes' : 'no')
  } else if (draw < 0.9 || leaves.length === 0) {
    ask(
      e,
      request(
        d,
        say(
          d,
          '[which {leaves} are [in|inside|on] {where}|what {leaves} does {where} hold|name [all|the|all the] {leaves} [in|of] {where}|give me the names of [all|the] {leaves} [in|inside] {where}]',
          all,
        ),
      ),
    )
    list()
    answer(e, leaves.length === 0 ? 'none' : leaves.map(({ name }) => name).join(pick(d, [', ', ', '])))
  } else {
    const last = chance(d, 0.5)
    ask(
      e,
      request(
        d,
        say(d, '[what is|name|tell me|give me] the {which} {leaf} [in|inside|on|of] {where}', {
          ...all,
          which: last ? 'last' : 'first',
        }),
      ),
    )
    list()
    answer(e, (last ? leaves.at(-1) : leaves[0])!.name)
  }
})

/** Search, answer with the full path, or with the literal "no match". */
export const whereIs = story((e) => {
  const { d } = e
  const path = effects.someLeaf(e)
  const missing = chance(d, 0.1)
  const clue = missing ? word(d) : effects.soleClue(e, path)
  const near = chance(d, 0.3) && parentOf(path) !== ''
  const start = near ? `/${path.split('/')[1]}` : '/'
  ask(
    e,
    request(
      d,
      say(
        d,
        '[where is|find|look for|seek|locate|search for|in which place is] [the {leaf}|{leaf}|a {leaf}] [named|called|titled|by the name of] {clue} {near}',
        holes(e, {
          clue: quoted(d, clue, 0.3),
          near: near ? say(d, '[under|below|somewhere in] {where}', { where: boxAt(e, start) }) : '',
        }),
      ).trimEnd() + pick(d, ['', '', ', full path', ' and say where it is', ' and give me the path']),
    ),
  )
  const result = step(e, 'find', start, clueFor(e.of, clue))
  const found = result.startsWith('[') ? (parseOwnJson(result) as string[]) : result.split('\n')
  answer(e, result === 'no match' ? 'not found' : found.join(', '))
})

/** Search, then read the result, answer with its text. */
export const seekAndRead = story((e) => {
  const { d } = e
  const path = effects.someLeaf(e)
  const clue = effects.soleClue(e, path)
  ask(
    e,
    request(
      d,
      say(
        d,
        '[[find|look for|seek|hunt for|search for] [the {leaf}|a {leaf}] [named|called|titled] {clue}[, wherever it is,|] and [say what it says|give me its words|read it out|show me its text]|what does the {leaf} [named|called|titled] {clue} say, wherever it is|somewhere there is a {leaf} [named|called] {clue}[;|,] [say what it says|what does it say|give me its words]]',
        holes(e, { clue: quoted(d, clue, 0.3) }),
      ),
    ),
  )
  step(e, 'find', '/', clueFor(e.of, clue))
  answer(e, step(e, 'read', path))
})
