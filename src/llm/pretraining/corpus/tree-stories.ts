import { between, chance, type Draw, pick, say, shortLine, shuffled } from './draw.ts'
import * as effects from './effects.ts'
import type { Clause } from './effects.ts'
import {
  answer,
  ask,
  boxAt,
  type CorpusTask,
  fulfil,
  leafAt,
  perform,
  request,
  holes,
  inOrder,
  step,
  story,
  type Story,
} from './tree-task.ts'
import { childrenOf, fieldLines, freshBox, freshLeaf, nameOf, parentOf, type Step } from './tree.ts'

/** Actions, done in the intended order even if the sentence names them in reverse. */
const effectsInOrder = (counts: readonly number[]): Story =>
  story((e) => {
    const { d } = e
    const clauses: string[] = []
    const steps: Step[] = []
    const count = pick(d, counts)
    for (let i = 0; i < count; i += 1) {
      const clause =
        count > 1 && i > 0 && e.tree.leaves.size < 2 ? effects.freeEffect(e) : effects.anyEffect(e)
      clauses.push(clause.text)
      steps.push(...clause.steps())
    }
    fulfil(e, () => joined(d, clauses), steps)
  })

function joined(d: Draw, clauses: readonly string[]): string {
  const [a, b, c] = clauses as [string, string, string]
  if (clauses.length === 1) return a
  if (clauses.length > 3) return inOrder(d, clauses)
  if (clauses.length === 3)
    return say(d, '{a}, [then|after that|next] {b}[,|] and [finally|then|last] {c}', { a, b, c })
  return say(
    d,
    '[{a}[, then| and then| and|; after that|, and after that|. then|; next] {b}|first {a}[, then| and then|, and then] {b}|after you {a}, {b}|{b}, but first {a}|before you {b}, {a}|1. {a} 2. {b}]',
    { a, b },
  )
}

export const oneEffect = effectsInOrder([1])
export const severalEffects = effectsInOrder([2, 2, 2, 2, 2, 2, 3])
export const manyEffects = effectsInOrder([3, 4, 4, 5, 6])

export const seekAndDo = single(effects.seekAnd)
export const makeAndStore = single(effects.makeAndStore)
export const duplicate = single(effects.duplicate)

function single(kind: (e: CorpusTask) => Clause): Story {
  return story((e) => {
    const clause = kind(e)
    fulfil(e, () => clause.text, clause.steps())
  })
}

/** Read a field of one leaf and store only that in another, or read two leaves and answer with both. */
export const useOfTwo = story((e) => {
  const { d } = e
  const path = effects.someLeaf(e)
  const text = fieldLines(d, 1 + d.random.int(3))
  e.tree.leaves.set(path, text)
  const line = pick(d, text.split('\n'))
  const [key, found] = [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]
  const to = freshLeaf(d, e.tree)
  ask(
    e,
    request(
      d,
      say(
        d,
        '[look up the {key} [on|in] {from} and [put|store|keep] it [in|on|as] {to}|put the {key} of {from} [into|on] {to}|store the {key} from {from} in {to}]',
        { key, from: leafAt(e, path), to: leafAt(e, to, 0.2) },
      ),
    ),
  )
  step(e, 'read', path)
  step(e, 'store', to, found)
  answer(e, 'done')
})

/** Something is missing: say so, or try the alternative in the request. */
export const trouble = story((e) => {
  const { d } = e
  const ghost = freshLeaf(d, e.tree)
  const real = effects.someLeaf(e)
  if (chance(d, 0.5)) {
    ask(
      e,
      request(
        d,
        say(d, '[what does {what} say|show me the words of {what}|tell me what is [on|in] {what}]', {
          what: leafAt(e, ghost),
        }),
      ),
    )
    step(e, 'read', ghost)
    answer(e, `there is no ${ghost}`)
    return
  }
  const [first, second] = chance(d, 0.6) ? [ghost, real] : [real, ghost]
  ask(
    e,
    request(
      d,
      say(
        d,
        '[what does {one} say, or if [it is missing|there is none], {two}|show me the words of {one}[; if that is missing,| or else] {two}|tell me what is on {one} or, failing that, {two}]',
        { one: leafAt(e, first, 0.2), two: leafAt(e, second, 0.2) },
      ),
    ),
  )
  const result = step(e, 'read', first)
  answer(e, first === ghost ? step(e, 'read', second) : result)
})

/** A second request that refers to "it" or to the result of the first. */
export const followUp = story((e) => {
  const { d } = e
  const path = effects.someLeaf(e)
  let now = path
  if (chance(d, 0.5)) {
    ask(
      e,
      request(
        d,
        say(d, '[what does {what} say|show me {what}|read out {what}|let me see {what}]', {
          what: leafAt(e, path),
        }),
      ),
    )
    answer(e, step(e, 'read', path))
  } else {
    const box = effects.otherBox(e, parentOf(path))
    now = `${box}/${nameOf(path)}`
    ask(
      e,
      request(
        d,
        say(d, '[move|bring|carry|take] {what} [to|into] {box}', {
          what: leafAt(e, path),
          box: boxAt(e, box),
        }),
      ),
    )
    step(e, 'move', path, now)
    answer(e, 'done')
  }
  const kind = d.random.int(4)
  if (kind === 0) {
    ask(e, pick(d, ['now throw it away', 'and now get rid of it', 'now remove that one', 'then bin it']))
    step(e, 'drop', now)
  } else if (kind === 1) {
    const box = effects.otherBox(e, parentOf(now))
    ask(
      e,
      say(d, '[now|and now|then|ok,] [move|bring|take|carry] it [to|into] {box}', { box: boxAt(e, box) }),
    )
    step(e, 'move', now, `${box}/${nameOf(now)}`)
  } else if (kind === 2) {
    const name = nameOf(freshLeaf(d, e.tree))
    ask(e, say(d, '[now|and now|then|ok,] [rename it to|relabel it|call it] {name}', { name }))
    step(e, 'move', now, `${parentOf(now)}/${name}`)
  } else {
    const to = freshLeaf(d, e.tree)
    ask(
      e,
      say(d, '[now|and now|then|ok,] [put|store|keep] [the same words|the same text] [in|on|as] {to}', {
        to: leafAt(e, to, 0.2),
      }),
    )
    const known = e.used.includes('read')
    const text = known ? e.tree.leaves.get(now)! : step(e, 'read', now)
    step(e, 'store', to, text)
  }
  answer(e, 'done')
})

/** A short plan: look in a box, then act on its first or last leaf. */
export const actOnListed = story((e) => {
  const { d } = e
  const box = effects.someBox(e)
  while (childrenOf(e.tree, box).filter(({ isBox }) => !isBox).length < 2) {
    e.tree.leaves.set(freshLeaf(d, e.tree, box), shortLine(d))
  }
  const leaves = childrenOf(e.tree, box).filter(({ isBox }) => !isBox)
  const last = chance(d, 0.5)
  const path = `${box}/${(last ? leaves.at(-1)! : leaves[0]).name}`
  const all = holes(e, { which: last ? 'last' : 'first', where: boxAt(e, box) })
  const kind = shuffled(d, ['read', 'drop', 'move'])[0]
  const target = effects.otherBox(e, box)
  ask(
    e,
    request(
      d,
      kind === 'read'
        ? say(d, '[what does|tell me what] the {which} {leaf} [in|of] {where} [say|says]', all)
        : kind === 'drop'
          ? say(d, '[throw away|get rid of|bin|remove] the {which} {leaf} [in|of] {where}', all)
          : say(d, '[move|bring|carry|take] the {which} {leaf} [in|of] {where} [to|into] {target}', {
              ...all,
              target: boxAt(e, target),
            }),
    ),
  )
  step(e, 'list', box)
  if (kind === 'read') answer(e, step(e, 'read', path))
  else {
    if (kind === 'drop') step(e, 'drop', path)
    else step(e, 'move', path, `${target}/${nameOf(path)}`)
    answer(e, 'done')
  }
})

/** `count` leaves outside `box`. Adds leaves to the tree if it has too few. */
function leavesOutside(e: CorpusTask, box: string, count: number): string[] {
  const outside = (): string[] => [...e.tree.leaves.keys()].filter((path) => parentOf(path) !== box)
  while (outside().length < count) {
    const elsewhere = effects.otherBox(e, box)
    e.tree.boxes.add(elsewhere)
    e.tree.leaves.set(freshLeaf(e.d, e.tree, elsewhere), shortLine(e.d))
  }
  return shuffled(e.d, outside()).slice(0, count)
}

/** "a, b and c", each named as a path or by its name and box. */
const enumerated = (e: CorpusTask, paths: readonly string[]): string => {
  const named = paths.map((path) => leafAt(e, path, 0.15))
  return `${named.slice(0, -1).join(', ')}${chance(e.d, 0.85) ? ' and ' : ', '}${named.at(-1)}`
}

/** One action for each of two to four leaves: moved to a box or deleted. */
export const each = story((e) => {
  const { d } = e
  const box = effects.someBox(e)
  const paths = leavesOutside(e, box, between(d, 2, chance(d, 0.3) ? 4 : 3))
  const list = enumerated(e, paths)
  if (chance(d, 0.25)) {
    const text = say(d, '[throw away|get rid of|bin|destroy] {list}', { list })
    fulfil(
      e,
      () => text,
      paths.map((path) => perform(e, 'drop', path)),
    )
    return
  }
  const text = say(d, '[bring|carry|shift|send|take] {list} [over|] [to|into] {where}', {
    list,
    where: boxAt(e, box),
  })
  fulfil(
    e,
    () => text,
    paths.map((path) => perform(e, 'move', path, `${box}/${nameOf(path)}`)),
  )
})

/** A new box, and one to three leaves moved into it. */
export const makeAndFill = story((e) => {
  const { d } = e
  const box = freshBox(d, e.tree)
  const paths = leavesOutside(e, box, between(d, 1, 3))
  const bare = parentOf(box) === '' && chance(d, 0.3) ? nameOf(box) : box
  const list = paths.length === 1 ? leafAt(e, paths[0], 0.15) : enumerated(e, paths)
  const text = say(
    d,
    '[[set up|open|build] [a|the|a new] {box} {at}[, then| and|, and| and then] [bring|carry|shift|take] {list} [to it|inside|over]|[bring|carry|shift|take] {list} [to|into] a {box} {at} that you [open|build|set up] [first|before]|{list} [go|shall go] [to|into] a {box} {at}[, open it first|, which is not there yet]]',
    holes(e, { at: bare, list }),
  )
  fulfil(e, () => text, [
    perform(e, 'make', box),
    ...paths.map((path) => perform(e, 'move', path, `${box}/${nameOf(path)}`)),
  ])
})
