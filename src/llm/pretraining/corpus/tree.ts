import { between, chance, distinct, itemName, key, pick, placeName, shortLine, value, word } from './draw.ts'
import type { Draw } from './draw.ts'

/** A little simulated world: boxes and leaves by slash path. Enough to make every tool result consistent. */
export interface Tree {
  boxes: Set<string>
  leaves: Map<string, string>
}

export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Two to four boxes, three to seven leaves. Half of the trees hold short texts only, others also lists of fields. */
export function makeTree(d: Draw): Tree {
  const tops = distinct(between(d, 2, 3), () => `/${placeName(d)}`)
  const boxes = new Set(tops)
  if (chance(d, 0.25)) boxes.add(`${pick(d, tops)}/${placeName(d)}`)
  const leaves = new Map<string, string>()
  const places = [...boxes]
  const count = between(d, 2, 6)
  for (let i = 0; i < count; i += 1) {
    const path = `${chance(d, 0.04) ? '' : pick(d, places)}/${itemName(d)}`
    if (!boxes.has(path)) leaves.set(path, leafText(d))
  }
  return { boxes, leaves }
}

/** One line of words, or two to five lines, or lines of `key: value`. */
export function leafText(d: Draw): string {
  const draw = d.random.next()
  if (draw < 0.68) return shortLine(d)
  if (draw < 0.82) return fieldLines(d, between(d, 1, 3))
  if (draw < 0.92)
    return distinct(between(d, 2, 4), () => (chance(d, 0.6) ? word(d) : shortLine(d))).join('\n')
  return word(d)
}

export const fieldLines = (d: Draw, count: number): string =>
  distinct(count, () => key(d))
    .map((name) => `${name}: ${value(d)}`)
    .join('\n')

/** What stands directly in a box, boxes and leaves mixed in order of name. */
export function childrenOf(tree: Tree, box: string): { name: string; isBox: boolean }[] {
  const found = [
    ...[...tree.boxes]
      .filter((path) => parentOf(path) === box)
      .map((path) => ({ name: nameOf(path), isBox: true })),
    ...[...tree.leaves.keys()]
      .filter((path) => parentOf(path) === box)
      .map((path) => ({ name: nameOf(path), isBox: false })),
  ]
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}

export const freshBox = (d: Draw, tree: Tree): string =>
  distinct(1, () => `${chance(d, 0.3) ? pick(d, [...tree.boxes]) : ''}/${placeName(d)}`)[0]

export const freshLeaf = (d: Draw, tree: Tree, box?: string): string => {
  for (;;) {
    const path = `${box ?? pick(d, [...tree.boxes])}/${itemName(d)}`
    if (!tree.leaves.has(path) && !tree.boxes.has(path)) return path
  }
}
