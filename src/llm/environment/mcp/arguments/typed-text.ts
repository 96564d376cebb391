import type { Random } from '../../../../engine/random/index.ts'
import type { SplitWords } from './words.ts'

/** A computation that every calculator reads: numbers, the four operations and brackets. */
export function expression(_: SplitWords, random: Random): string {
  const number = (): number => 2 + random.int(40)
  const sign = (): string => random.pick(['+', '-', '*', '/'])
  return random.pick([
    () => `${number()} ${sign()} ${number()}`,
    () => `${number()} + ${number()} * ${number()}`,
    () => `(${number()} + ${number()}) * ${1 + random.int(9)}`,
    () => `${number()} * ${number()} - ${number()}`,
  ])()
}

/** A regular expression that matches something in most texts. */
export function regex(words: SplitWords, random: Random): string {
  const word = random.pick(words.nouns)
  return random.pick(['\\d+', '[a-z]+', '\\w+', word, `^${word}`, `${word[0]}\\w*`])
}

/** Some lines that JavaScript and TypeScript read. They assign and print, and have no effect elsewhere. */
export function code(words: SplitWords, random: Random): string {
  const name = random.pick(words.nouns)
  const [a, b] = [random.int(50), 1 + random.int(50)]
  return random.pick([
    `const ${name} = ${a} + ${b};\nconsole.log(${name});`,
    `console.log(${a} * ${b});`,
    `const ${name} = "${random.pick(words.traits)}";\nconsole.log(${name}.length);`,
  ])
}

export function jsonText(words: SplitWords, random: Random): string {
  return JSON.stringify({
    name: random.pick(words.nouns),
    count: random.int(100),
    kind: random.pick(words.traits),
  })
}

export function html(words: SplitWords, random: Random): string {
  return `<h1>${random.pick(words.traits)} ${random.pick(words.nouns)}</h1><p>${random.pick(words.nouns)}</p>`
}

/** A page with what pages have, as a URL that needs no network. */
export function pageUrl(words: SplitWords, random: Random): string {
  const [a, b, c] = random.shuffle(words.nouns.slice(0, 100))
  return `data:text/html,<title>${a}</title><h1>${random.pick(words.traits)} ${a}</h1><p>${b}</p><a href="%23">${c}</a><button>${b}</button><input><select><option>${a}<option>${c}</select>`
}
