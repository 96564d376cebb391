import { between, chance, distinct, personOrPlace, pick, shuffled, word } from '../draw.ts'
import { lexiconWord } from '../lexicon.ts'
import { valueText } from './fields.ts'
import { drawNoun } from './records.ts'
import {
  type Component,
  integer,
  listText,
  makeTool,
  many,
  type ServerTool,
  some,
  type Style,
  text,
  ToolFailure,
  writtenText,
} from './server.ts'

/** Some of the tools of a component. */
export const part = (style: Style, tools: readonly ServerTool[], least = 2): ServerTool[] =>
  shuffled(style.d, tools).slice(0, between(style.d, Math.min(least, tools.length), tools.length))

/** The failure of a tool that does not find what it is asked for. */
export const missing = (what: string, name: unknown): ToolFailure =>
  new ToolFailure(`Error: no ${what} ${String(name)}`)

/** Values under keys: settings, variables, bookmarks. */
export const keyValue: Component = (style) => {
  const { d } = style
  const noun = pick(d, [
    'setting',
    'value',
    'variable',
    'entry',
    'option',
    'shortcut',
    'preference',
    lexiconWord(d, 'noun'),
  ])
  const [key, value] = [
    style.key(pick(d, ['key', 'name', noun])),
    style.key(pick(d, ['value', 'content', 'text', 'to'])),
  ]
  if (key === value) return []
  const values = new Map(distinct(between(d, 2, 4), () => word(d)).map((name) => [name, valueText(d)]))
  const one = (): string | undefined => (values.size === 0 ? undefined : pick(d, [...values.keys()]))
  const withKey = (): Record<string, unknown> | undefined => {
    const found = one()
    return found === undefined ? undefined : { [key]: found }
  }
  const common = { object: noun, noun }
  return part(style, [
    makeTool(style, {
      ...common,
      action: 'set',
      effect: 'changes',
      about: pick(d, [some(noun), `the value of ${some(noun)}`, `${some(noun)} to a value`]),
      properties: { [key]: text, [value]: text },
      draw: () => ({ [key]: chance(d, 0.6) ? (one() ?? word(d)) : word(d), [value]: valueText(d) }),
      run(args) {
        values.set(String(args[key]), String(args[value]))
        return writtenText(style, args, `${noun} ${String(args[key])} is now ${String(args[value])}`)
      },
    }),
    makeTool(style, {
      ...common,
      action: 'get',
      effect: 'reads',
      about: pick(d, [some(noun), `the value of ${some(noun)}`]),
      properties: { [key]: text },
      draw: withKey,
      run(args) {
        const found = values.get(String(args[key]))
        if (found === undefined) throw missing(noun, args[key])
        return style.record === 'json' ? JSON.stringify({ [value]: found }) : found
      },
    }),
    makeTool(style, {
      ...common,
      action: 'remove',
      effect: 'removes',
      about: some(noun),
      properties: { [key]: text },
      draw: withKey,
      run(args) {
        if (!values.delete(String(args[key]))) throw missing(noun, args[key])
        return writtenText(style, args, `Removed ${noun} ${String(args[key])}`)
      },
    }),
    makeTool(style, {
      action: 'list',
      effect: 'reads',
      object: many(noun),
      noun,
      about: pick(d, [`all ${many(noun)}`, many(noun)]),
      properties: {},
      lists: true,
      draw: () => ({}),
      run: () =>
        listText(
          style,
          style.key(many(noun)),
          [...values].map(([name, held]) => ({ [key]: name, [value]: held })),
        ),
    }),
  ])
}

/** Numbers that go up and down: balances, counters, stocks. */
export const counters: Component = (style) => {
  const { d } = style
  const noun = pick(d, ['counter', 'balance', 'account', 'score', 'stock', 'tank', 'gauge', drawNoun(style)])
  const [name, by] = [
    style.key(pick(d, ['name', noun, 'of'])),
    style.key(pick(d, ['amount', 'by', 'number', 'points'])),
  ]
  if (name === by) return []
  const levels = new Map(
    distinct(between(d, 2, 3), () => (chance(d, 0.5) ? personOrPlace(d) : word(d))).map((of) => [
      of,
      between(d, 20, 300),
    ]),
  )
  const one = (): string => pick(d, [...levels.keys()])
  const change = (action: 'raise' | 'lower', sign: number): ServerTool =>
    makeTool(style, {
      action,
      effect: 'changes',
      object: noun,
      noun,
      about: pick(d, [some(noun), `${some(noun)} by an amount`]),
      properties: { [name]: text, [by]: integer },
      draw: () => ({ [name]: one(), [by]: between(d, 1, 20) }),
      run(args) {
        const level = levels.get(String(args[name]))
        if (level === undefined) throw missing(noun, args[name])
        const now = level + sign * Number(args[by])
        levels.set(String(args[name]), now)
        return writtenText(style, { [name]: args[name], now }, `${String(args[name])} is now ${now}`)
      },
    })
  return part(style, [
    change('raise', 1),
    change('lower', -1),
    makeTool(style, {
      action: 'get',
      effect: 'reads',
      object: noun,
      noun,
      about: pick(d, [some(noun), `the present ${noun}`, `how much ${some(noun)} has`]),
      properties: { [name]: text },
      draw: () => ({ [name]: one() }),
      run(args) {
        const level = levels.get(String(args[name]))
        if (level === undefined) throw missing(noun, args[name])
        return style.record === 'json' ? JSON.stringify({ [noun]: level }) : String(level)
      },
    }),
  ])
}

/** Named lists of texts: shopping, playlists, members of a group. */
export const lists: Component = (style) => {
  const { d } = style
  const list = pick(d, ['list', 'playlist', 'group', 'box', 'album', 'shelf', 'menu', lexiconWord(d, 'noun')])
  const item = pick(d, ['item', 'song', 'member', 'thing', 'dish', 'name', lexiconWord(d, 'noun')])
  const [listKey, itemKey] = [
    style.key(pick(d, [list, `${list} name`])),
    style.key(pick(d, [item, 'text', 'what'])),
  ]
  if (list === item || listKey === itemKey) return []
  const held = new Map(
    distinct(between(d, 2, 3), () => word(d)).map((name) => [
      name,
      distinct(between(d, 1, 4), () => valueText(d)),
    ]),
  )
  const one = (): string => pick(d, [...held.keys()])
  const at = (name: unknown): string[] => {
    const items = held.get(String(name))
    if (items === undefined) throw missing(list, name)
    return items
  }
  return part(style, [
    makeTool(style, {
      action: 'add',
      effect: 'adds',
      object: item,
      noun: item,
      about: `${some(item)} to ${some(list)}`,
      properties: chance(d, 0.5)
        ? { [listKey]: text, [itemKey]: text }
        : { [itemKey]: text, [listKey]: text },
      draw: () => ({ [itemKey]: valueText(d), [listKey]: one() }),
      run(args) {
        at(args[listKey]).push(String(args[itemKey]))
        return writtenText(style, args, `Added ${String(args[itemKey])}`)
      },
    }),
    makeTool(style, {
      action: 'remove',
      effect: 'removes',
      object: item,
      noun: item,
      about: `${some(item)} from ${some(list)}`,
      properties: { [listKey]: text, [itemKey]: text },
      draw() {
        const name = one()
        const items = held.get(name) ?? []
        return items.length === 0 ? undefined : { [listKey]: name, [itemKey]: pick(d, items) }
      },
      run(args) {
        const items = at(args[listKey])
        const index = items.indexOf(String(args[itemKey]))
        if (index < 0) throw missing(item, args[itemKey])
        items.splice(index, 1)
        return writtenText(style, args, `Removed ${String(args[itemKey])}`)
      },
    }),
    makeTool(style, {
      action: 'get',
      effect: 'reads',
      object: list,
      noun: list,
      about: pick(d, [some(list), `the ${many(item)} of ${some(list)}`, `what ${some(list)} holds`]),
      properties: { [listKey]: text },
      draw: () => ({ [listKey]: one() }),
      run: (args) =>
        listText(
          style,
          style.key(many(item)),
          at(args[listKey]).map((value) => ({ [itemKey]: value })),
        ),
    }),
  ])
}

/** Things and the links between them. */
export const graph: Component = (style) => {
  const { d } = style
  const noun = pick(d, [
    'station',
    'page',
    'place',
    'person',
    'topic',
    'island',
    'room',
    lexiconWord(d, 'noun'),
  ])
  const [from, to] = pick(d, [
    ['from', 'to'],
    ['source', 'target'],
    ['first', 'second'],
    ['start', 'end'],
    ['left', 'right'],
  ] as const).map(style.key)
  const names = distinct(between(d, 3, 5), () => (chance(d, 0.5) ? personOrPlace(d) : word(d)))
  const label = chance(d, 0.4) ? style.key(pick(d, ['label', 'kind', 'color', 'distance'])) : undefined
  const links: { from: string; to: string }[] = names
    .slice(1)
    .map((name, i) => ({ from: names[i], to: name }))
  const check = (name: unknown): string => {
    if (!names.includes(String(name))) throw missing(noun, name)
    return String(name)
  }
  const nounKey = style.key(noun)
  return part(style, [
    makeTool(style, {
      action: 'link',
      effect: 'adds',
      object: many(noun),
      noun,
      about: pick(d, [`two ${many(noun)}`, `${some(noun)} to another`]),
      properties: { [from]: text, [to]: text, ...(label === undefined ? {} : { [label]: text }) },
      draw: () => ({
        [from]: names[0],
        [to]: names.at(-1),
        ...(label === undefined ? {} : { [label]: word(d) }),
      }),
      run(args) {
        links.push({ from: check(args[from]), to: check(args[to]) })
        return writtenText(style, args, `Linked ${String(args[from])} and ${String(args[to])}`)
      },
    }),
    makeTool(style, {
      action: 'unlink',
      effect: 'removes',
      object: many(noun),
      noun,
      about: `two ${many(noun)}`,
      properties: { [from]: text, [to]: text },
      draw() {
        const link = links.length === 0 ? undefined : pick(d, links)
        return link === undefined ? undefined : { [from]: link.from, [to]: link.to }
      },
      run(args) {
        const at = links.findIndex((link) => link.from === args[from] && link.to === args[to])
        if (at < 0) throw missing('link', `${String(args[from])} ${String(args[to])}`)
        links.splice(at, 1)
        return writtenText(style, args, 'Gone')
      },
    }),
    makeTool(style, {
      action: 'get',
      effect: 'reads',
      object: pick(d, ['neighbors', 'links', 'connections']),
      noun: 'link',
      about: pick(d, [`the links of ${some(noun)}`, `what is linked to ${some(noun)}`]),
      properties: { [nounKey]: text },
      draw: () => ({ [nounKey]: pick(d, names) }),
      run: (args) =>
        listText(
          style,
          'links',
          links.filter((link) => link.from === args[nounKey] || link.to === args[nounKey]),
        ),
    }),
    makeTool(style, {
      action: 'add',
      effect: 'adds',
      object: noun,
      noun,
      about: some(noun),
      properties: { [nounKey]: text },
      draw: () => ({ [nounKey]: word(d) }),
      run(args) {
        names.push(String(args[nounKey]))
        return writtenText(style, args, `Added ${String(args[nounKey])}`)
      },
    }),
  ])
}
