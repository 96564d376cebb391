import { between, chance, noun, pick, placeName, quoted, say, shortLine, stem, word } from './draw.ts'
import { endings } from './words.ts'
import { clueFor, freshBox, freshLeaf, nameOf, parentOf, type Step } from './tree.ts'
import { boxAt, leafAt, perform, holes } from './tree-task.ts'
import type { CorpusTask } from './tree-task.ts'

/** An action: its wording, without opener or full stop, and its calls. */
export interface Clause {
  text: string
  steps: () => Step[]
}

const leavesOf = (e: CorpusTask): string[] => [...e.tree.leaves.keys()]
export const someLeaf = (e: CorpusTask): string => pick(e.d, leavesOf(e))
export const someBox = (e: CorpusTask): string => pick(e.d, [...e.tree.boxes])
export const otherBox = (e: CorpusTask, than: string): string => {
  const others = [...e.tree.boxes].filter((box) => box !== than)
  return others.length === 0 ? freshBox(e.d, e.tree) : pick(e.d, others)
}

/** A short text to store. */
export const shortText = (e: CorpusTask): string => (chance(e.d, 0.15) ? word(e.d) : shortLine(e.d))

export function store(e: CorpusTask, box?: string): Clause {
  const { d } = e
  const path = freshLeaf(d, e.tree, box)
  const text = shortText(e)
  const words = say(d, `[put|keep|leave|store|place] {text} [in|into|as|on] {where}`, {
    text: quoted(d, text, 0.6),
    where: leafAt(e, path),
  })
  const other = say(
    d,
    `[make|start|add|prepare] [a|a new|] {leaf} {path} [saying|with the words|that says|holding|with] {text}`,
    holes(e, { path: quoted(d, path, 0.2), text: quoted(d, text, 0.6) }),
  )
  return { text: chance(d, 0.5) ? words : other, steps: () => [perform(e, 'store', path, text)] }
}

export function make(e: CorpusTask): Clause {
  const { d } = e
  const path = freshBox(d, e.tree)
  const parent = parentOf(path)
  const text =
    parent !== '' && chance(d, 0.5)
      ? say(
          d,
          '[make|add|set up|open|build] [a|a new|] {box} [called|named|] {name} [in|inside|under|within] {where}',
          holes(e, { name: nameOf(path), where: boxAt(e, parent) }),
        )
      : say(
          d,
          '[make|add|set up|open|build] [a|the|a new|] {box} [called|named|] {path}',
          holes(e, { path: parent === '' && chance(d, 0.5) ? nameOf(path) : path }),
        )
  return { text, steps: () => [perform(e, 'make', path)] }
}

/** To another box under the same name, or to a full path. */
export function move(e: CorpusTask): Clause {
  const { d } = e
  const from = someLeaf(e)
  const box = otherBox(e, parentOf(from))
  const whole = chance(d, 0.25)
  const to = whole ? freshLeaf(d, e.tree, box) : `${box}/${nameOf(from)}`
  const target = whole ? to : boxAt(e, box)
  return {
    text: say(d, '[move|carry|bring|take|shift|send] {what} [over|] [to|into|to] {target}', {
      what: leafAt(e, from),
      target,
    }),
    steps: () => [perform(e, 'move', from, to)],
  }
}

/** A new name in the same box; the whole name, or only its ending. */
export function rename(e: CorpusTask): Clause {
  const { d } = e
  const from = someLeaf(e)
  const box = parentOf(from)
  const dot = nameOf(from).lastIndexOf('.')
  if (dot > 0 && chance(d, 0.3)) {
    const ending = pick(
      d,
      endings.filter((end) => !from.endsWith(`.${end}`)),
    )
    const to = `${box}/${nameOf(from).slice(0, dot)}.${ending}`
    return {
      text: say(
        d,
        '[change the ending of {what} [to|into] {end}|give {what} the ending {end}|let {what} end in {end}]',
        { what: leafAt(e, from), end: chance(d, 0.5) ? ending : `.${ending}` },
      ),
      steps: () => [perform(e, 'move', from, to)],
    }
  }
  const name = nameOf(freshLeaf(d, e.tree, box))
  return {
    text: say(d, '[rename|relabel|retitle] {what} [to|as|into] {name}', {
      what: leafAt(e, from),
      name: quoted(d, name, 0.3),
    }),
    steps: () => [perform(e, 'move', from, `${box}/${name}`)],
  }
}

export function drop(e: CorpusTask): Clause {
  const path = someLeaf(e)
  return {
    text: say(e.d, '[throw away|throw out|get rid of|bin|destroy|remove] {what}', { what: leafAt(e, path) }),
    steps: () => [perform(e, 'drop', path)],
  }
}

/** Replaces one word of a leaf. The request names only the part to change, not the leaf's text. */
export function amend(e: CorpusTask): Clause {
  const { d } = e
  const path = someLeaf(e)
  const parts = e.tree.leaves
    .get(path)!
    .split(/[\s:]+/)
    .filter((part) => part !== '')
  const at = d.random.int(parts.length)
  const span = Math.min(parts.length - at, chance(d, 0.7) ? 1 : 2)
  const joined = parts.slice(at, at + span).join(' ')
  const old = e.tree.leaves.get(path)!.includes(joined) ? joined : parts[at]
  const fresh = /^\d+$/.test(old)
    ? String(between(d, 1, 99))
    : chance(d, 0.8)
      ? word(d)
      : `${word(d)} ${word(d)}`
  return {
    text: say(
      d,
      '[[swap|replace] {old} [with|by|for] {fresh} [in|on] {what}|in {what}[,|] [turn|change] {old} [into|to] {fresh}|[turn|change|alter] {old} [in|on] {what} [into|to] {fresh}]',
      { old: quoted(d, old), fresh: quoted(d, fresh), what: leafAt(e, path) },
    ),
    steps: () => [perform(e, 'amend', path, old, fresh)],
  }
}

/** Copies the content of one leaf into another: a read, then a store of the text. */
export function duplicate(e: CorpusTask): Clause {
  const { d } = e
  const from = someLeaf(e)
  const box = otherBox(e, parentOf(from))
  const same = chance(d, 0.3)
  const to = same ? `${box}/${nameOf(from)}` : freshLeaf(d, e.tree)
  const where = same ? boxAt(e, box) : leafAt(e, to, 0.25)
  return {
    text: say(
      d,
      '[[copy|double|repeat] [what is in|the words of|the wording of|] {what} [into|to|as|in] {where}|put [the same words|the same text|the same] as {what} [says|has|] [into|in] {where}|let {where} say the same as {what}]',
      { what: leafAt(e, from), where },
    ),
    steps: () => {
      const read = perform(e, 'read', from)
      return [read, perform(e, 'store', to, read.result)]
    },
  }
}

/** Finds a leaf by a part of its name, then moves, renames or deletes it. */
export function seekAnd(e: CorpusTask): Clause {
  const { d } = e
  const path = someLeaf(e)
  const name = nameOf(path)
  const clue = soleClue(e, path)
  const what = say(
    d,
    '[the {leaf}|a {leaf}|{leaf}] [named|called|by the name of|titled] {clue}',
    holes(e, { clue: quoted(d, clue, 0.3) }),
  )
  const search = (): Step => perform(e, 'find', '/', clueFor(e.of, clue))
  const kind = d.random.int(4)
  if (kind === 0) {
    return {
      text: say(
        d,
        '[find|look for|seek|search for|hunt for] {what}[, wherever it is,|] and [throw it away|get rid of it|bin it|remove it]',
        { what },
      ),
      steps: () => [search(), perform(e, 'drop', path)],
    }
  }
  if (kind === 1) {
    const fresh = chance(d, 0.5)
      ? `${stem(d)}.${pick(d, endings)}`
      : `${noun(d)}${name.slice(name.lastIndexOf('.'))}`
    return {
      text: say(
        d,
        '[find|look for|seek|search for|hunt for] {what} and [rename|relabel] it [to|as] {fresh}',
        { what, fresh },
      ),
      steps: () => [search(), perform(e, 'move', path, `${parentOf(path)}/${fresh}`)],
    }
  }
  const box = otherBox(e, parentOf(path))
  return {
    text: say(
      d,
      '[[find|look for|seek|search for|hunt for] {what}[, wherever it is,|] and [move|bring|take|carry|shift] it [to|into] {box}|[move|bring|take|carry] {what} [to|into] {box}, wherever it [is|may be]]',
      { what, box: boxAt(e, box) },
    ),
    steps: () => [search(), perform(e, 'move', path, `${box}/${name}`)],
  }
}

/** A part of a leaf's name that no other leaf's name contains; usually the whole name or its stem. */
export function soleClue(e: CorpusTask, path: string): string {
  const name = nameOf(path)
  const dot = name.lastIndexOf('.')
  const base = dot > 0 ? name.slice(0, dot) : name
  const parts = [name, name, base, base, pick(e.d, base.split(/[-_.]/))]
  const wanted = pick(e.d, parts)
  const hits = leavesOf(e).filter((other) => nameOf(other).includes(wanted))
  return hits.length === 1 ? wanted : name
}

const kinds = [store, store, make, move, move, rename, rename, drop, amend, duplicate]

/** Any single action, usually of one call. */
export const anyEffect = (e: CorpusTask): Clause => pick(e.d, kinds)(e)
/**
 * Two actions of which one must be done. Half of them are of one kind and differ only in their arguments, so that the choice
 * falls inside the call and not on its name.
 */
export function alternatives(e: CorpusTask): [Clause, Clause] {
  const { d } = e
  const draw = d.random.next()
  if (draw < 0.25) return eitherPlace(e)
  if (draw < 0.55) {
    const kind = pick(d, [store, make, make, make, move, rename])
    return [kind(e), kind(e)]
  }
  if (draw < 0.8) return [freeEffect(e), freeEffect(e)]
  return [anyEffect(e), anyEffect(e)]
}

/** One leaf moved to one box or to another. */
function eitherPlace(e: CorpusTask): [Clause, Clause] {
  const { d } = e
  const from = someLeaf(e)
  const one = otherBox(e, parentOf(from))
  const other = [...e.tree.boxes].find((box) => box !== one && box !== parentOf(from)) ?? freshBox(d, e.tree)
  const to = (box: string, what: string): Clause => ({
    text: say(d, '[move|carry|bring|take|shift|send] {what} [to|into] {target}', {
      what,
      target: boxAt(e, box),
    }),
    steps: () => [perform(e, 'move', from, `${box}/${nameOf(from)}`)],
  })
  return [to(one, leafAt(e, from)), to(other, chance(d, 0.6) ? 'it' : leafAt(e, from))]
}

/** An action of exactly one call that names no leaf of the tree. Always possible. */
export const freeEffect = (e: CorpusTask): Clause => (chance(e.d, 0.7) ? store(e) : make(e))

/** Creates a box and a leaf in it. */
export function makeAndStore(e: CorpusTask): Clause {
  const { d } = e
  const path = chance(d, 0.7) ? `/${placeName(d)}` : freshBox(d, e.tree)
  const leaf = nameOf(freshLeaf(d, e.tree, ''))
  const text = shortText(e)
  const box = parentOf(path) === '' && chance(d, 0.6) ? nameOf(path) : path
  return {
    text: say(
      d,
      '[make|add|set up|open|build] [a|the|a new|] {box} [called|named|] {at}[, then| and|, and] [put|keep|leave|place] [a {leaf} {name} [saying|that says|with] {text} [in it|there|inside]|{text} in [the {leaf}|] {name} [there|inside|in it]]',
      holes(e, { at: box, name: leaf, text: quoted(d, text, 0.6) }),
    ),
    steps: () => [perform(e, 'make', path), perform(e, 'store', `${path}/${leaf}`, text)],
  }
}
