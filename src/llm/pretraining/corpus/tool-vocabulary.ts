import { capital } from '../../environment/mcp/request/inflect.ts'
import type { ToolSpec } from '../../tool/tool.ts'
import { chance, pick, shuffled, word } from './draw.ts'
import type { Draw } from './draw.ts'
import { isReservedName } from './words.ts'

/** Operations on a tree of boxes with leaves. */
export type Action = 'read' | 'list' | 'store' | 'amend' | 'make' | 'move' | 'find' | 'drop'

export interface ToolShape {
  name: string
  /** Argument names, in order: read/list/make/drop one; store, find two; move two; amend place, old and new. */
  keys: readonly string[]
}

/** Invented tools over one kind of tree: names, argument names, nouns and output formats. */
export interface ToolVocabulary {
  leaf: readonly [string, string]
  box: readonly [string, string]
  tools: Readonly<Record<Action, ToolShape>>
  /** Key of the list of changes, if `amend` takes an array of objects. */
  changesKey?: string
  listing: 'bracket' | 'star' | 'plain' | 'json' | 'comma' | 'colon' | 'dash'
  clue: 'bare' | 'star' | 'glob'
  effect: 'ok' | 'said' | 'path'
}

type Row = [string, ...string[]]
const tool = ([name, ...keys]: Row): ToolShape => ({ name, keys })

function toolVocabulary(
  nouns: string,
  rows: Record<Action, string>,
  style: Pick<ToolVocabulary, 'listing' | 'clue' | 'effect' | 'changesKey'>,
): ToolVocabulary {
  const [leaf, leaves, box, boxes] = nouns.split(' ') as [string, string, string, string]
  const tools = Object.fromEntries(
    Object.entries(rows).map(([action, row]) => [action, tool(row.split(' ') as Row)]),
  ) as Record<Action, ToolShape>
  return { leaf: [leaf, leaves], box: [box, boxes], tools, ...style }
}

/**
 * The memorised tool vocabularies. The model knows their 56 tools without descriptions; the nouns tell which vocabulary is
 * meant.
 */
export const fixedToolVocabularies: readonly ToolVocabulary[] = [
  toolVocabulary(
    'leaf leaves shelf shelves',
    {
      read: 'peek_leaf place',
      list: 'survey_shelf place',
      store: 'stow_leaf place body',
      amend: 'amend_leaf place before after',
      make: 'raise_shelf place',
      move: 'carry_leaf origin target',
      find: 'seek_leaves under like',
      drop: 'shred_leaf place',
    },
    { listing: 'bracket', clue: 'star', effect: 'said', changesKey: 'changes' },
  ),
  toolVocabulary(
    'card cards drawer drawers',
    {
      read: 'glance-card at',
      list: 'scan-drawer at',
      store: 'pin-card at words',
      amend: 'fix-card at old new',
      make: 'build-drawer at',
      move: 'shift-card from to',
      find: 'trace-card base clue',
      drop: 'bin-card at',
    },
    { listing: 'star', clue: 'bare', effect: 'ok' },
  ),
  toolVocabulary(
    'scroll scrolls vault vaults',
    {
      read: 'unrollScroll key',
      list: 'tourVault key',
      store: 'inkScroll key script',
      amend: 'patchScroll key was becomes',
      make: 'carveVault key',
      move: 'haulScroll start end',
      find: 'huntScroll area glob',
      drop: 'burnScroll key',
    },
    { listing: 'json', clue: 'glob', effect: 'path', changesKey: 'edits' },
  ),
  toolVocabulary(
    'parcel parcels bay bays',
    {
      read: 'inspect_parcel spot',
      list: 'browse_bay spot',
      store: 'pack_parcel spot load',
      amend: 'revise_parcel spot take give',
      make: 'open_bay spot',
      move: 'route_parcel source sink',
      find: 'locate_parcel zone hint',
      drop: 'void_parcel spot',
    },
    { listing: 'colon', clue: 'star', effect: 'said', changesKey: 'swaps' },
  ),
  toolVocabulary(
    'poster posters hall halls',
    {
      read: 'view_poster location',
      list: 'roam_hall location',
      store: 'hang_poster location content',
      amend: 'retouch_poster location oldPart newPart',
      make: 'found_hall location',
      move: 'transfer_poster source destination',
      find: 'spot_posters root mask',
      drop: 'strip_poster location',
    },
    { listing: 'dash', clue: 'glob', effect: 'said', changesKey: 'parts' },
  ),
  toolVocabulary(
    'tape tapes crate crates',
    {
      read: 'tape_play path',
      list: 'crate_look path',
      store: 'tape_record path sound',
      amend: 'tape_dub path cut paste',
      make: 'crate_nail path',
      move: 'tape_pass path goal',
      find: 'tape_sniff path title',
      drop: 'tape_wipe path',
    },
    { listing: 'bracket', clue: 'bare', effect: 'ok' },
  ),
  toolVocabulary(
    'seed seeds plot plots',
    {
      read: 'sprout place',
      list: 'stroll place',
      store: 'sow place text',
      amend: 'graft place oldText newText',
      make: 'dig place',
      move: 'transplant source destination',
      find: 'forage place pattern',
      drop: 'weed place',
    },
    { listing: 'bracket', clue: 'glob', effect: 'path', changesKey: 'cuts' },
  ),
]

const verbsOf: Record<Action, readonly string[]> = {
  read: [
    'peek',
    'view',
    'unfold',
    'display',
    'glance',
    'reveal',
    'inspect',
    'recite',
    'open',
    'see',
    'fetch',
  ],
  list: ['survey', 'scan', 'tour', 'roll_call', 'browse', 'look_over', 'show_all', 'index'],
  store: ['stow', 'put', 'pin', 'keep', 'jot', 'inscribe', 'save', 'deposit', 'set'],
  amend: ['fix', 'patch', 'revise', 'amend', 'tweak', 'alter', 'swap_words'],
  make: ['raise', 'build', 'found', 'carve', 'set_up', 'add', 'make'],
  move: ['carry', 'haul', 'shift', 'relay', 'route', 'transfer', 'bring'],
  find: ['seek', 'trace', 'hunt', 'locate', 'track', 'sniff', 'spot'],
  drop: ['shred', 'discard', 'bin', 'erase', 'drop', 'clear'],
}

const placeKeys = ['place', 'at', 'spot', 'location', 'where', 'target', 'key', 'path', 'address', 'id']
const bodyKeys = ['body', 'text', 'words', 'load', 'content', 'value', 'data', 'message']
const moveKeys = [
  ['from', 'to'],
  ['origin', 'target'],
  ['source', 'destination'],
  ['start', 'end'],
  ['old', 'new'],
]
const amendKeys = [
  ['old', 'new'],
  ['before', 'after'],
  ['was', 'becomes'],
  ['oldText', 'newText'],
  ['cut', 'paste'],
]
const clueKeys = ['clue', 'like', 'hint', 'pattern', 'mask', 'query', 'needle', 'word']
const kinds: readonly (readonly [string, string])[] = [
  ['leaf', 'leaves'],
  ['card', 'cards'],
  ['memo', 'memos'],
  ['page', 'pages'],
  ['sheet', 'sheets'],
  ['slip', 'slips'],
  ['note', 'notes'],
  ['record', 'records'],
  ['entry', 'entries'],
  ['label', 'labels'],
  ['sketch', 'sketches'],
  ['song', 'songs'],
  ['letter', 'letters'],
  ['map', 'maps'],
  ['ticket', 'tickets'],
]
const holders: readonly (readonly [string, string])[] = [
  ['shelf', 'shelves'],
  ['drawer', 'drawers'],
  ['box', 'boxes'],
  ['room', 'rooms'],
  ['chest', 'chests'],
  ['binder', 'binders'],
  ['locker', 'lockers'],
  ['basket', 'baskets'],
  ['case', 'cases'],
  ['rack', 'racks'],
  ['cabinet', 'cabinets'],
  ['album', 'albums'],
  ['tray', 'trays'],
  ['bag', 'bags'],
]

/** A new tool vocabulary. Its conversations show descriptions. */
export function inventToolVocabulary(d: Draw): ToolVocabulary {
  const leaf = chance(d, 0.25) ? plural(word(d)) : pick(d, kinds)
  const box = chance(d, 0.2) ? plural(word(d)) : pick(d, holders)
  const style = pick(d, ['snake', 'kebab', 'camel'] as const)
  const place = pick(d, placeKeys)
  const nounLast = chance(d, 0.75)
  const named = (action: Action): string => {
    const acts = chance(d, 0.12) ? word(d).toLowerCase() : pick(d, verbsOf[action])
    const about = action === 'list' || action === 'make' ? box[0] : leaf[0]
    const parts = (nounLast ? `${acts}_${about}` : `${about}_${acts}`).split('_')
    if (style === 'camel')
      return parts.map((part, i) => (i === 0 ? part : part[0].toUpperCase() + part.slice(1))).join('')
    return parts.join(style === 'snake' ? '_' : '-')
  }
  const actions = Object.keys(verbsOf) as Action[]
  const names = distinctNames(actions, named)
  const keys: Record<Action, readonly string[]> = {
    read: [place],
    list: [place],
    make: [place],
    drop: [place],
    store: [place, pickOther(d, bodyKeys, place)],
    find: [place, pickOther(d, clueKeys, place)],
    move: pick(d, moveKeys),
    amend: [place, ...pick(d, amendKeys)],
  }
  return {
    leaf,
    box,
    tools: Object.fromEntries(
      actions.map((action, i) => [action, { name: names[i], keys: keys[action] }]),
    ) as Record<Action, ToolShape>,
    listing: pick(d, ['bracket', 'bracket', 'star', 'plain', 'json', 'comma', 'colon', 'dash'] as const),
    clue: pick(d, ['bare', 'star', 'glob'] as const),
    effect: pick(d, ['ok', 'said', 'path'] as const),
    ...(chance(d, 0.4) ? { changesKey: pick(d, ['changes', 'edits', 'swaps', 'parts', 'fixes']) } : {}),
  }
}

const plural = (text: string): readonly [string, string] => [text, `${text}s`]
const pickOther = (d: Draw, items: readonly string[], not: string): string =>
  pick(
    d,
    items.filter((item) => item !== not),
  )

function distinctNames(actions: readonly Action[], named: (action: Action) => string): string[] {
  const used = new Set<string>()
  return actions.map((action) => {
    for (;;) {
      const name = named(action)
      if (used.has(name) || isReservedName(name)) continue
      used.add(name)
      return name
    }
  })
}

const purpose: Record<Action, readonly string[]> = {
  read: ['show what a {leaf} says', 'get the text of a {leaf}', 'give the words in a {leaf}'],
  list: ['show what is in a {box}', 'names in a {box}', 'give all things of a {box}'],
  store: ['put text into a {leaf}', 'keep words as a {leaf}', 'make a {leaf} with text'],
  amend: ['change words of a {leaf}', 'swap a part of a {leaf}'],
  make: ['make a {box}', 'add a new {box}'],
  move: ['bring a {leaf} to another place', 'give a {leaf} a new place or name'],
  find: ['look for {leaves} by name', 'where is a {leaf}'],
  drop: ['throw a {leaf} away', 'take a {leaf} out for good'],
}

const reason = (d: Draw, of: ToolVocabulary, action: Action): string =>
  pick(d, purpose[action])
    .replace('{leaf}', of.leaf[0])
    .replace('{leaves}', of.leaf[1])
    .replace('{box}', of.box[0])

/** Descriptions of a conversation's tools, in shuffled order, with or without their purpose. */
export function toolDescriptions(d: Draw, of: ToolVocabulary, needed: readonly Action[]): string {
  const all = Object.keys(verbsOf) as Action[]
  const spare = d.random.int(3)
  const actions = shuffled(d, [...new Set([...needed, ...shuffled(d, all).slice(0, spare)])])
  const explained = chance(d, 0.35)
  const entries = actions.map((action) => {
    const { name, keys } = of.tools[action]
    const args =
      action === 'amend' && of.changesKey !== undefined
        ? `${keys[0]}, ${of.changesKey}[${keys[1]}, ${keys[2]}]`
        : keys.join(', ')
    const why = reason(d, of, action)
    return explained ? `${name}(${args}): ${why}` : `${name}(${args})`
  })
  return `${pick(d, ['tools', 'tools', 'you have', 'use'])}:${explained ? '\n' : ' '}${entries.join(explained ? '\n' : ', ')}`
}

/** The tools of a conversation as a server would describe them, some of them spare, in shuffled order. */
export function treeToolSpecs(d: Draw, of: ToolVocabulary, needed: readonly Action[]): ToolSpec[] {
  const all = Object.keys(verbsOf) as Action[]
  const spare = shuffled(d, all).slice(0, d.random.int(all.length + 1))
  const explained = chance(d, 0.85)
  const text = { type: 'string' }
  return shuffled(d, [...new Set([...needed, ...spare])]).map((action) => {
    const { name, keys } = of.tools[action]
    const nested = action === 'amend' && of.changesKey !== undefined ? of.changesKey : undefined
    const object = (names: readonly string[]) => ({
      type: 'object',
      properties: Object.fromEntries(names.map((key) => [key, text])),
      required: [...names],
    })
    const plain = object(nested === undefined ? keys : keys.slice(0, 1))
    const changes = { type: 'array', items: object(keys.slice(1)) }
    return {
      name,
      ...(explained ? { description: capital(reason(d, of, action)) } : {}),
      inputSchema:
        nested === undefined
          ? plain
          : {
              ...plain,
              properties: { ...plain.properties, [nested]: changes },
              required: [...plain.required, nested],
            },
    }
  })
}
