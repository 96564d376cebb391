import {
  between,
  chance,
  distinct,
  type Draw,
  itemName,
  key,
  pick,
  placeName,
  shortLine,
  value,
  word,
} from './draw.ts'
import type { Action, ToolVocabulary } from './tool-vocabulary.ts'

/** A simulated environment: boxes and leaves by slash path. It makes every tool result consistent. */
export interface Tree {
  boxes: Set<string>
  leaves: Map<string, string>
}

export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Two to four boxes, three to seven leaves. Half of the trees contain only short texts, others also lists of fields. */
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
function leafText(d: Draw): string {
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

/** The direct content of a box: boxes and leaves, sorted by name. */
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

interface Call {
  name: string
  arguments: Record<string, unknown>
}

/** A call and its result. A call with an effect changes the tree. */
export interface Step {
  call: Call
  result: string
}

const past: Partial<Record<Action, string>> = {
  store: 'stored',
  amend: 'changed',
  make: 'made',
  move: 'moved',
  drop: 'gone',
}

/** Runs an invented tool on the tree. `args`: values in the order of the tool's keys. */
export function act(tree: Tree, of: ToolVocabulary, action: Action, ...args: string[]): Step {
  const { name, keys } = of.tools[action]
  const step = (result: string): Step => ({
    call: { name, arguments: argumentsOf(of, action, keys, args) },
    result,
  })
  const [place, second, third] = args as [string, string, string]
  const missing = (path: string): Step => step(`error: nothing at ${path}`)
  const effect = (path: string): Step =>
    step(
      of.effect === 'ok'
        ? 'ok'
        : of.effect === 'said'
          ? `${past[action]} ${nameOf(path)}`
          : `${past[action]}: ${path}`,
    )
  switch (action) {
    case 'read':
      return tree.leaves.has(place) ? step(tree.leaves.get(place)!) : missing(place)
    case 'list':
      return place === '/' || tree.boxes.has(place)
        ? step(listing(tree, of, place === '/' ? '' : place))
        : missing(place)
    case 'store':
      tree.leaves.set(place, second)
      return effect(place)
    case 'amend': {
      const text = tree.leaves.get(place)
      if (text === undefined) return missing(place)
      if (!text.includes(second)) return step(`error: no ${second} in ${nameOf(place)}`)
      tree.leaves.set(
        place,
        text.replace(second, () => third),
      )
      return effect(place)
    }
    case 'make':
      tree.boxes.add(place)
      return effect(place)
    case 'move': {
      const text = tree.leaves.get(place)
      if (text === undefined) return missing(place)
      tree.leaves.delete(place)
      tree.leaves.set(second, text)
      return effect(second)
    }
    case 'find': {
      const clue = second.replaceAll('*', '').replace(/^\//, '')
      const under = place === '/' ? '/' : `${place}/`
      const found = [...tree.leaves.keys()]
        .filter((path) => path.startsWith(under) && nameOf(path).includes(clue))
        .sort()
      if (found.length === 0) return step('no match')
      return step(of.listing === 'json' ? JSON.stringify(found) : found.join('\n'))
    }
    case 'drop':
      return tree.leaves.delete(place) ? effect(place) : missing(place)
  }
}

/** The tool vocabulary's wording for what to search for. */
export const clueFor = (of: ToolVocabulary, text: string): string =>
  of.clue === 'bare' ? text : of.clue === 'star' ? `*${text}*` : `**/${text}*`

function argumentsOf(
  of: ToolVocabulary,
  action: Action,
  keys: readonly string[],
  args: readonly string[],
): Record<string, unknown> {
  if (action === 'amend' && of.changesKey !== undefined) {
    return { [keys[0]]: args[0], [of.changesKey]: [{ [keys[1]]: args[1], [keys[2]]: args[2] }] }
  }
  return Object.fromEntries(keys.map((key, i) => [key, args[i]]))
}

function listing(tree: Tree, of: ToolVocabulary, box: string): string {
  const children = childrenOf(tree, box)
  const [leaf, holder] = [of.leaf[0], of.box[0]]
  if (children.length === 0) return of.listing === 'json' ? '[]' : 'empty'
  const kind = (isBox: boolean): string => (isBox ? holder : leaf)
  switch (of.listing) {
    case 'bracket':
      return children.map(({ name, isBox }) => `<${kind(isBox)}> ${name}`).join('\n')
    case 'star':
      return children.map(({ name, isBox }) => `${isBox ? '+' : '*'} ${name}`).join('\n')
    case 'dash':
      return children.map(({ name, isBox }) => `(${kind(isBox).toUpperCase()}) ${name}`).join('\n')
    case 'colon':
      return children.map(({ name, isBox }) => `${kind(isBox)}: ${name}`).join('\n')
    case 'json':
      return JSON.stringify(children.map(({ name, isBox }) => (isBox ? `${name}/` : name)))
    case 'comma':
      return children.map(({ name, isBox }) => (isBox ? `${name}/` : name)).join(', ')
    case 'plain':
      return children.map(({ name, isBox }) => (isBox ? `${name}/` : name)).join('\n')
  }
}
