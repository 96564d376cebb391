import { hash32, type Random } from '../../../engine/random/index.ts'
import { adjectives, endings, names, nouns, pseudoWord, requestWords, verbs } from './words.ts'

type Part = string | Part[][]

const parsed = new Map<string, Part[]>()

/**
 * Draws one surface form of a template. `[a|b|c]` is a choice; choices nest and may be empty. `{hole}` is filled from `holes`
 * after spaces around choices have been tidied, so values keep theirs.
 */
export function expand(
  random: Random,
  template: string,
  holes: Readonly<Record<string, string>> = {},
): string {
  let parts = parsed.get(template)
  if (parts === undefined) {
    parts = parse(template)
    parsed.set(template, parts)
  }
  const text = draw(random, parts)
    .replace(/ {2,}/g, ' ')
    .replace(/ ([,;.?!])(?= |$)/g, '$1')
    .trim()
  return text.replace(/\{(\w+)\}/g, (whole, hole: string) => holes[hole] ?? whole)
}

function draw(random: Random, parts: readonly Part[]): string {
  let text = ''
  for (const part of parts)
    text += typeof part === 'string' ? part : draw(random, part[random.int(part.length)])
  return text
}

function parse(template: string): Part[] {
  let at = 0
  const sequence = (): Part[] => {
    const parts: Part[] = []
    let text = ''
    while (at < template.length && template[at] !== '|' && template[at] !== ']') {
      if (template[at] === '[') {
        if (text !== '') parts.push(text)
        text = ''
        const choices: Part[][] = []
        do {
          at += 1
          choices.push(sequence())
        } while (template[at] === '|')
        at += 1
        parts.push(choices)
      } else {
        text += template[at]
        at += 1
      }
    }
    if (text !== '') parts.push(text)
    return parts
  }
  return sequence()
}

/** The words to draw from: those of training, or the disjoint ones of skill evaluation. */
export type WordPool = 'train' | 'probe'

/** The random source of one conversation. */
export interface Draw {
  random: Random
  pool: WordPool
  /** Draws nouns, adjectives and verbs from the whole lexicon half of the time. Default: never. */
  lexicon?: (kind: 'noun' | 'adjective' | 'verb', pool: WordPool) => readonly string[]
}

/** Reserves one word in twelve for skill evaluation, by its hash, including invented words: training never draws them. */
export const isHeldOut = (word: string): boolean => hash32('corpus-word', word) % 12 === 0

const byPool = (words: readonly string[]): Record<WordPool, readonly string[]> => ({
  train: words.filter((word) => !isHeldOut(word)),
  probe: words.filter(isHeldOut),
})

// Divided at first use, not at import: hashing every word would slow down `import 'agoge'`.
let divided: Record<'noun' | 'adjective' | 'verb' | 'name', Record<WordPool, readonly string[]>> | undefined
const pools = (): NonNullable<typeof divided> =>
  (divided ??= {
    noun: byPool(nouns),
    adjective: byPool(adjectives),
    verb: byPool(verbs),
    name: byPool(names),
  })

export const chance = (d: Draw, probability: number): boolean => d.random.next() < probability
export const pick = <T>(d: Draw, items: readonly T[]): T => items[d.random.int(items.length)]
export const between = (d: Draw, low: number, high: number): number => low + d.random.int(high - low + 1)
export const say = (d: Draw, template: string, holes: Readonly<Record<string, string>> = {}): string =>
  expand(d.random, template, holes)

/** A listed word. Without a lexicon this draws one number, as the first stages always did. */
const ordinary = (d: Draw, kind: 'noun' | 'adjective' | 'verb'): string =>
  pick(d, d.lexicon !== undefined && chance(d, 0.5) ? d.lexicon(kind, d.pool) : pools()[kind][d.pool])
export const noun = (d: Draw): string => ordinary(d, 'noun')
export const adjective = (d: Draw): string => ordinary(d, 'adjective')
export const verb = (d: Draw): string => ordinary(d, 'verb')
export const personOrPlace = (d: Draw): string => pick(d, pools().name[d.pool])

/** An invented word of the pool. */
export function invented(d: Draw): string {
  for (;;) {
    const word = pseudoWord(d.random)
    if (isHeldOut(word) === (d.pool === 'probe')) return word
  }
}

/** A single lower-case word: usually ordinary, often invented. */
export function word(d: Draw): string {
  const draw = d.random.next()
  if (draw < 0.45) return noun(d)
  if (draw < 0.57) return adjective(d)
  if (draw < 0.65) return verb(d)
  if (draw < 0.69) return personOrPlace(d).toLowerCase()
  return invented(d)
}

/** A shuffled copy. */
export function shuffled<T>(d: Draw, items: readonly T[]): T[] {
  const copy = [...items]
  for (let i = copy.length - 1; i > 0; i -= 1) {
    const j = d.random.int(i + 1)
    ;[copy[i], copy[j]] = [copy[j], copy[i]]
  }
  return copy
}

/** `count` distinct values of `make`. */
export function distinct<T>(count: number, make: () => T): T[] {
  const found = new Set<T>()
  for (let tries = 0; found.size < count && tries < count * 50; tries += 1) found.add(make())
  return [...found]
}

export const words = (d: Draw, low: number, high: number): string[] =>
  distinct(between(d, low, high), () => word(d))

/** A name of one to three words joined by - _ or . and sometimes a number: "kettle-red", "list_07". */
export function stem(d: Draw, most = 3): string {
  const draw = d.random.next()
  const count = draw < 0.42 ? 1 : draw < 0.93 ? 2 : 3
  const parts = words(d, Math.min(count, most), Math.min(count, most))
  if (chance(d, 0.06)) parts.push(personOrPlace(d).toLowerCase())
  if (chance(d, 0.1)) parts.push(String(chance(d, 0.2) ? between(d, 1990, 2035) : between(d, 1, 99)))
  return parts.join(pick(d, ['-', '-', '-', '-', '-', '-', '_', '_', '_', '.']))
}

export const itemName = (d: Draw): string => (chance(d, 0.92) ? `${stem(d)}.${pick(d, endings)}` : stem(d))
export const placeName = (d: Draw): string => stem(d, chance(d, 0.8) ? 1 : 2)

/** A slash path of `depth` parts. */
export function placePath(d: Draw, depth: number): string {
  let path = ''
  for (let i = 0; i < depth; i += 1) path += `/${placeName(d)}`
  return path
}

/** One short line of two to five words, sometimes with a number or a name. */
export function shortLine(d: Draw): string {
  const draw = d.random.next()
  if (draw < 0.5) return words(d, 2, 4).join(' ')
  if (draw < 0.6)
    return say(d, `{a} {b} [at|for|in|with|and|of] {c}`, { a: adjective(d), b: word(d), c: word(d) })
  if (draw < 0.75) return `${word(d)} ${pick(d, ['', 'at ', 'until ', 'number ', '= ', 'for '])}${number(d)}`
  if (draw < 0.9) return sentence(d)
  return `${personOrPlace(d)} ${word(d)} ${word(d)}`
}

/** A number as text: usually small, sometimes large, decimal or with a unit. */
export function number(d: Draw): string {
  const draw = d.random.next()
  if (draw < 0.4) return String(d.random.int(10))
  if (draw < 0.75) return String(d.random.int(100))
  if (draw < 0.9) return String(d.random.int(10_000))
  return `${d.random.int(100)}.${d.random.int(10)}`
}

export const key = (d: Draw): string =>
  chance(d, 0.6)
    ? pick(d, [
        'color',
        'size',
        'owner',
        'status',
        'price',
        'place',
        'date',
        'total',
        'code',
        'name',
        'kind',
        'day',
        'team',
        'city',
        'mood',
        'state',
        'level',
        'count',
        'title',
        'hour',
        'phase',
        'stage',
        'topic',
      ])
    : word(d)

export const value = (d: Draw): string => {
  const draw = d.random.next()
  return draw < 0.6
    ? word(d)
    : draw < 0.8
      ? number(d)
      : draw < 0.9
        ? personOrPlace(d)
        : `${word(d)} ${word(d)}`
}

/** A plain sentence without its full stop. */
export function sentence(d: Draw): string {
  const holes = {
    n: noun(d),
    m: noun(d),
    o: word(d),
    a: adjective(d),
    b: adjective(d),
    v: verb(d),
    w: verb(d),
    p: personOrPlace(d),
    q: personOrPlace(d),
    i: number(d),
  }
  if (chance(d, 0.3)) {
    const mixed = distinct(between(d, 2, 6), () => (chance(d, 0.75) ? pick(d, requestWords) : word(d)))
    return mixed.join(' ')
  }
  return say(d, pick(d, sentences), holes)
}

const sentences = [
  'the {a} {n} [is|was|stays|stood] [in|near|under|behind|inside] the {m}',
  '{p} [will|can|wants to|forgot to] {v} the {a} {n} [today|tomorrow|again|]',
  '[we|they|you] [must|should|never|often] {v} [and {w}|] before the {n}',
  '{p} [found|named|moved|counted|lost] {i} [old|new|] {n} [files|lines|folders|pages|names]',
  'every {n} has its own {o}',
  'no {n} was called {o} [here|then|]',
  'there [is|was] a {a} {o} on the {m}',
  '{p} and {q} {v} a {n}',
  'if the {n} is {a} then {v} it otherwise {w} it',
  'the {n} list contains {i} lines and one {o}',
  'please {v} both the {n} and the {o}',
  'the folder of the {n} exists but the {o} file is {a}',
  'what the {n} says is {a} text',
  'replace the {a} {n} with a {b} one',
]

/** Quotes a value sometimes, but never one that contains quotes. */
export function quoted(d: Draw, text: string, probability = 0.5): string {
  if (!chance(d, probability) || text.includes('"') || text.includes("'")) return text
  return pick(d, [`"${text}"`, `"${text}"`, `'${text}'`])
}
