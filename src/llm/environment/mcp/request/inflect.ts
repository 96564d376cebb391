const irregular: Readonly<Record<string, string>> = {
  person: 'people',
  child: 'children',
  man: 'men',
  woman: 'women',
  index: 'indexes',
  datum: 'data',
  criterion: 'criteria',
  leaf: 'leaves',
  shelf: 'shelves',
  half: 'halves',
  life: 'lives',
}
const singulars = new Map(Object.entries(irregular).map(([one, many]) => [many, one]))

/** Words without a plural, and words that look like one. */
const uncounted = new Set(
  (
    'data info information metadata news series status content text weather time date money help usage access progress ' +
    'config content history memory storage feedback software address process class alias analysis basis canvas bus ' +
    'gas bonus radius focus address access success business'
  ).split(' '),
)
const alwaysSingular = new Set(
  'status address process class alias analysis basis canvas bus gas bonus radius focus access success business series news this is was has its plus minus'.split(
    ' ',
  ),
)

/** The plural of an English noun: `entity`, `entities`. A plural stays as it is. */
export function plural(noun: string): string {
  if (Object.hasOwn(irregular, noun)) return irregular[noun]
  if (singulars.has(noun) || (isPlural(noun) && !alwaysSingular.has(noun))) return noun
  if ((uncounted.has(noun) && !alwaysSingular.has(noun)) || noun === 'news' || noun === 'series') return noun
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`
  if (/(?:s|x|z|ch|sh)$/.test(noun)) return `${noun}es`
  return `${noun}s`
}

/** The singular of an English noun: `entities`, `entity`. A singular stays as it is. */
export function singular(noun: string): string {
  const one = singulars.get(noun)
  if (one !== undefined) return one
  if (!isPlural(noun)) return noun
  if (noun.endsWith('ies') && noun.length > 4) return `${noun.slice(0, -3)}y`
  if (/(?:xes|ches|shes|sses|zzes)$/.test(noun)) return noun.slice(0, -2)
  return noun.slice(0, -1)
}

/** Whether a noun looks like a plural. */
export function isPlural(noun: string): boolean {
  if (singulars.has(noun)) return true
  return /[^s]s$/.test(noun) && noun.length > 3 && !alwaysSingular.has(noun) && !/(?:us|is)$/.test(noun)
}

/** Whether a noun has no plural, such as "weather". */
export function isUncounted(noun: string): boolean {
  return uncounted.has(noun) && !alwaysSingular.has(noun)
}

/** "a" or "an" before a word, by its first sound. */
export function article(word: string): string {
  if (/^(?:uni|use|user|util|eu|one|ur[li])/i.test(word)) return 'a'
  if (/^(?:hour|honest|html|http|id\b|ip|sql|xml|mcp|svg|rss)/i.test(word)) return 'an'
  return /^[aeiou]/i.test(word) ? 'an' : 'a'
}

/** A noun phrase with "a" or "an"; without one for plurals and for what is not counted. */
export function withArticle(phrase: string): string {
  const head = phrase.split(' ').at(-1) ?? phrase
  if (isPlural(head) || isUncounted(head)) return phrase
  return `${article(phrase)} ${phrase}`
}

/** The last word of a noun phrase in the singular or plural: `two phone numbers`, `phone number`. */
export function inNumber(phrase: string, many: boolean): string {
  const words = phrase.split(' ')
  const head = words.pop() ?? ''
  return [...words, many ? plural(head) : singular(head)].join(' ')
}

/** "a", "a and b", "a, b and c". */
export function listed(items: readonly string[], last = 'and'): string {
  if (items.length < 2) return items.join('')
  return `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`
}

/** The base form of a verb in the third person: `creates`, `create`; `searches`, `search`. */
export function baseForm(verb: string): string {
  if (/(?:ches|shes|sses|xes|zzes|oes)$/.test(verb)) return verb.slice(0, -2)
  if (/[^aeiou]ies$/.test(verb)) return `${verb.slice(0, -3)}y`
  return /[^s]s$/.test(verb) && verb.length > 3 ? verb.slice(0, -1) : verb
}

/** The past participle of a verb: `created`, `removed`, `written`. */
export function participle(verb: string): string {
  const known: Readonly<Record<string, string>> = {
    write: 'written',
    put: 'put',
    set: 'set',
    make: 'made',
    send: 'sent',
    take: 'taken',
    give: 'given',
    get: 'fetched',
    find: 'found',
    read: 'read',
    draw: 'drawn',
    build: 'built',
    run: 'run',
    keep: 'kept',
    buy: 'bought',
    begin: 'begun',
  }
  const [head, ...rest] = verb.split(' ')
  const past = Object.hasOwn(known, head)
    ? known[head]
    : head.endsWith('e')
      ? `${head}d`
      : /[^aeiou]y$/.test(head)
        ? `${head.slice(0, -1)}ied`
        : /^(?:drop|plan|stop|submit|log|tag|set|swap|map|plot|pin|trim|skip)$/.test(head)
          ? `${head}${head.at(-1)}ed`
          : `${head}ed`
  return [past, ...rest].join(' ')
}

/** The first letter as a capital. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
