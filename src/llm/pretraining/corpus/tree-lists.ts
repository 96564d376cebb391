import { between, chance, say, shortLine, shuffled } from './draw.ts'
import * as effects from './effects.ts'
import { boxAt, fulfil, leafAt, perform, slots, story } from './tree-task.ts'
import type { CorpusTask } from './tree-task.ts'
import { freshBox, freshLeaf, nameOf, parentOf } from './tree.ts'

/** At least `count` leaves outside `box`, some of them. */
function leavesOutside(e: CorpusTask, box: string, count: number): string[] {
  const outside = (): string[] => [...e.tree.leaves.keys()].filter((path) => parentOf(path) !== box)
  while (outside().length < count) {
    const elsewhere = effects.otherBox(e, box)
    e.tree.boxes.add(elsewhere)
    e.tree.leaves.set(freshLeaf(e.d, e.tree, elsewhere), shortLine(e.d))
  }
  return shuffled(e.d, outside()).slice(0, count)
}

/** "a, b and c", each told as a path or by its name and box. */
const enumerated = (e: CorpusTask, paths: readonly string[]): string => {
  const told = paths.map((path) => leafAt(e, path, 0.15))
  return `${told.slice(0, -1).join(', ')}${chance(e.d, 0.85) ? ' and ' : ', '}${told.at(-1)}`
}

/** One thing done to each of two to four leaves: carried to a box or thrown away. */
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

/** A new box, and one to three leaves carried into it. */
export const makeAndFill = story((e) => {
  const { d } = e
  const box = freshBox(d, e.tree)
  const paths = leavesOutside(e, box, between(d, 1, 3))
  const bare = parentOf(box) === '' && chance(d, 0.3) ? nameOf(box) : box
  const list = paths.length === 1 ? leafAt(e, paths[0], 0.15) : enumerated(e, paths)
  const text = say(
    d,
    '[[set up|open|build] [a|the|a new] {box} {at}[, then| and|, and| and then] [bring|carry|shift|take] {list} [to it|inside|over]|[bring|carry|shift|take] {list} [to|into] a {box} {at} that you [open|build|set up] [first|before]|{list} [go|shall go] [to|into] a {box} {at}[, open it first|, which is not there yet]]',
    slots(e, { at: bare, list }),
  )
  fulfil(e, () => text, [
    perform(e, 'make', box),
    ...paths.map((path) => perform(e, 'move', path, `${box}/${nameOf(path)}`)),
  ])
})
