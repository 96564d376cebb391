/** From a character to the one after the last. */
export type TextRange = readonly [from: number, to: number]

/** Shortest secret that is also searched for in encodings and across line breaks, where a short one occurs by chance. */
const shortestEncoded = 8

/**
 * A way of writing that a server may use: what it puts between the characters that count, and how a secret looks without it.
 */
interface Writing {
  /** What is left out of a text before it is searched for long secrets. Undefined: nothing, and short ones are searched for too. */
  between?: RegExp
  /** What stands in its place, and at both ends of the text. Default: nothing. */
  instead?: string
  forms(secret: string): string[]
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)
const htmlEscapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Line breaks, also as they are written inside of a string of JSON, and backslashes: JSON inside of JSON has any number of them. */
const escapes = /(?:\r?\n|\\+r\\+n|\\+n)[\t ]*|\\+/g

const writings: readonly Writing[] = [
  { forms: plainForms },
  {
    // A line that is broken anywhere, also inside a string of JSON.
    between: escapes,
    forms: (secret) => [secret.replaceAll(escapes, ''), ...base64Forms(secret)],
  },
  {
    // 73:65, 73 65, 0x73, 0x65, \x73\x65, %73%65, \u0073\u0065, &#x73;&#x65;
    between: /0x|\\x|\\u00|%|&#x|[\s,:;"'-]+/gi,
    forms: (secret) => {
      const hex = Buffer.from(secret).toString('hex')
      return [hex, hex.toUpperCase()]
    },
  },
  {
    // [115, 101] or &#115;&#101;
    between: /[\s,;:&#()[\]"'-]+/g,
    instead: ',',
    forms: (secret) => [`,${[...Buffer.from(secret)].join(',')},`],
  },
]

/** As it is, in JSON, in JSON inside a string of JSON, in an address, in HTML. */
function plainForms(secret: string): string[] {
  const json = inJson(secret)
  // Half of a character of two halves has no place in an address.
  const uri = encodeURIComponent(Buffer.from(secret).toString())
  const lower = uri.replace(/%[\dA-F]{2}/g, (escape) => escape.toLowerCase())
  const html = secret.replace(/[&<>"']/g, (character) => htmlEscapes[character])
  return [secret, json, inJson(json), uri, lower, html]
}

/** The secret as it stands in the base64 of any longer text: what it shares a character with at either end is left out. */
function base64Forms(secret: string): string[] {
  const forms = [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
    const whole = bytes.toString('base64').replace(/=+$/, '')
    return whole.slice(Math.ceil((before * 4) / 3), Math.floor((bytes.length * 4) / 3))
  })
  return forms.flatMap((form) => [
    form,
    form.replaceAll('+', '-').replaceAll('/', '_'),
    encodeURIComponent(form),
  ])
}

/** Where each part of a text begins without what stands between, and where it began before. */
interface Part {
  here: number
  original: number
}

function partsOf(given: string, between: RegExp, instead: string): Part[] {
  const parts: Part[] = [{ here: 0, original: -instead.length }]
  let here = instead.length
  let original = 0
  for (const { 0: found, index } of given.matchAll(between)) {
    parts.push({ here, original })
    here += index - original + instead.length
    original = index + found.length
  }
  return [...parts, { here, original }]
}

/** Where a character of a condensed text was. */
function originalOf(parts: readonly Part[], at: number): number {
  let [low, high] = [0, parts.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (parts[middle].here <= at) low = middle
    else high = middle - 1
  }
  const { here, original } = parts[low]
  return original + at - here
}

/**
 * Returns a function that finds where secrets stand in a text, in order and without overlap: as they are, in JSON and
 * addresses, and from eight characters on also across line breaks, in base64 at any offset, as hexadecimal or decimal bytes.
 *
 * @example
 * const find = secretFinder(['sk-live-42'])
 * find('the key is sk-live-42') // [[11, 21]]
 */
export function secretFinder(secrets: readonly string[]): (text: string) => TextRange[] {
  const long = secrets.filter(({ length }) => length >= shortestEncoded)
  const searched = writings.map((writing) => {
    const some = writing.between === undefined ? secrets : long
    const forms = new Set(some.flatMap((secret) => writing.forms(secret)))
    const wanted = [...forms].filter((form) => form !== '')
    const { instead = '' } = writing
    return { ...writing, wanted, least: Math.min(...wanted.map(({ length }) => length)) - 2 * instead.length }
  })
  return (text) => {
    // Most texts are too short for most forms: the names and types of a schema, for instance.
    const fitting = searched.filter(({ least }) => text.length >= least)
    return merged(
      fitting.flatMap(({ between, instead = '', wanted }): TextRange[] => {
        if (between === undefined) return wanted.flatMap((form) => occurrences(text, form))
        const condensed = `${instead}${text.replaceAll(between, instead)}${instead}`
        const found = wanted.flatMap((form) => occurrences(condensed, form))
        if (found.length === 0) return []
        const parts = partsOf(text, between, instead)
        return found.map(([from, to]) => [
          originalOf(parts, from + instead.length),
          originalOf(parts, to - 1 - instead.length) + 1,
        ])
      }),
    )
  }
}

function occurrences(text: string, form: string): TextRange[] {
  const found: TextRange[] = []
  for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1))
    found.push([at, at + form.length])
  return found
}

/** The same places, in order, each once. */
function merged(ranges: readonly TextRange[]): TextRange[] {
  const result: [number, number][] = []
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = result.at(-1)
    if (last !== undefined && from < last[1]) last[1] = Math.max(last[1], to)
    else result.push([from, to])
  }
  return result
}
