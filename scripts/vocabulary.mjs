// npm run lint: checks that the library uses the field's terms. Counts the words below in file names, identifiers and texts that
// users read (titles of tests, help, errors), and fails if it finds any. In src and research, every text with
// a space counts as read by users. Does not check comments and pages, where a word may have its ordinary meaning.
//   node scripts/vocabulary.mjs              counts by word and folder, then each place
//   node scripts/vocabulary.mjs src/engine   only this folder
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parseSync } from 'oxc-parser'

const classic = /^(src\/(classic|cli\/classic|engine|statistics|returns)|examples|bench|docs)\//

/**
 * The words to replace and their replacements. `names` are runs of words in an identifier or file name (`heldOut` is `held
 * out`). `texts` are phrases in text that users read. `not` are longer runs in which the word is a standard term. `where` limits
 * a word to folders in which it has no ordinary meaning: the `body` of a request and the `wanted` answer are fine elsewhere.
 */
const terms = [
  {
    names: ['world', 'worlds'],
    texts: ['world', 'worlds'],
    not: ['open world', 'open world hint', 'world knowledge'],
    use: 'environment',
  },
  { names: ['lane', 'lanes'], texts: ['lane', 'lanes'], use: 'classic RL, language-model agents' },
  { names: ['room', 'rooms'], where: /^scripts\//, use: 'module' },
  {
    names: ['slot', 'slots'],
    texts: ['slot', 'slots'],
    where: classic,
    use: 'numEnvs, an environment of the vector',
  },
  { names: ['body', 'bodies'], where: classic, use: 'encoder, feature extractor' },
  { names: ['figure', 'figures'], where: /^src\//, use: 'metrics' },
  { names: ['kept'], where: /^src\/classic\//, use: 'state dict, exportState, saved' },
  { names: ['told'], texts: ['told'], use: 'read-only view, reported, by default' },
  { names: ['decide', 'decides'], where: /^src\/(classic|llm\/agent)\//, use: 'predict' },
  { names: ['together'], use: 'batched, continuous batching' },
  { names: ['board', 'team', 'partner', 'meet'], use: 'shared buffer, worker pair, worker, barrier' },
  { names: ['half', 'halves'], where: /half(s|ves)?\.ts$/, use: 'float16, data-parallel split' },
  { names: ['slopes'], texts: ['slopes'], use: 'gradients' },
  { names: ['held'], not: ['held out'], where: classic, use: 'clamped' },
  {
    names: ['wanted'],
    where: /^src\/classic\/(algorithm|policy|tabular|bandit|replay)\//,
    use: 'TD target, expected',
  },
  {
    names: ['silent group', 'silent groups'],
    texts: ['groups without signal', 'silent group'],
    use: 'zero-variance group',
  },
  { names: ['undecided'], texts: ['undecided'], use: 'high-entropy' },
  { names: ['without chance'], texts: ['without chance'], use: 'greedy, deterministic' },
  { names: ['linearise', 'linearised'], texts: ['linearise', 'linearised'], use: 'toTrainingSequences' },
  { names: ['laid out over'], texts: ['laid out over'], use: 'broadcast to' },
  {
    names: ['imitate', 'imitated', 'imitates'],
    texts: ['imitate', 'imitated', 'imitates'],
    use: 'SFT, behavioural cloning',
  },
  {
    names: ['pupil', 'pupils', 'lesson', 'lessons', 'course', 'courses'],
    texts: ['pupil', 'pupils', 'lesson', 'lessons', 'courses'],
    use: 'student, example, schedule or curriculum',
  },
  {
    names: ['deed', 'deeds', 'dialect', 'dialects', 'errand', 'errands', 'scene', 'scenes'],
    texts: ['deed', 'deeds', 'dialect', 'dialects', 'errand', 'errands', 'scene', 'scenes'],
    use: 'tool call, tool vocabulary, task, initial state',
  },
  { names: ['legend', 'legends'], not: ['chart legend'], where: /^src\/llm\//, use: 'tool descriptions' },
  {
    names: ['seal', 'sealed', 'seals'],
    texts: ['seal', 'sealed', 'seals'],
    use: 'hash of what was consented to',
  },
  { names: ['kit', 'kits'], texts: ['kit', 'kits'], use: 'shared' },
  { names: ['stand in', 'stand ins'], texts: ['stand-in', 'stand-ins'], use: 'simplification, replacement' },
  {
    names: ['probe', 'probes', 'probed'],
    texts: ['probe', 'probes', 'probed'],
    use: 'diagnostic environment, tool probing, skill evaluation',
  },
  { names: ['verdict', 'verdicts'], texts: ['verdict', 'verdicts'], use: 'Score, Judgement' },
  {
    names: ['phrasing', 'phrasings', 'wording', 'wordings'],
    texts: ['phrasing', 'phrasings', 'wording', 'wordings'],
    use: 'prompt template, paraphrase',
  },
  { names: ['planner', 'planners'], texts: ['planner', 'planners'], use: 'expert, oracle policy' },
  {
    names: ['family', 'families'],
    texts: ['family', 'families'],
    not: ['model family', 'model families', 'tiny family', 'family relations'],
    use: 'kind of task, kind of question, context space',
  },
  {
    names: ['credit', 'credits'],
    texts: ['credit', 'credits'],
    not: ['credit assignment', 'partial credit'],
    use: 'advantage',
  },
  { names: ['spine'], texts: ['spine'], use: '(drop it)' },
  {
    names: ['undo', 'guard', 'guarded', 'owned', 'occupied'],
    not: ['owned by'],
    use: 'reset, limit, check, locked',
  },
  { names: ['gone on with'], texts: ['gone on with', 'go on with', 'goes on with'], use: 'resume' },
  {
    names: [],
    texts: ['unless told', 'costs only itself', 'is told of', 'so many', 'paid'],
    use: 'by default, rewarded, a number',
  },
]

/** Places where a word has its usual meaning. */
const exceptions = [
  {
    path: /^src\/llm\/audit\/corruptions/,
    word: /^verdict$/,
    why: 'an answer that tries to speak to the judge',
  },
  { path: /^src\/runs\/convert/, word: /./, why: 'reads the names of version 0.1' },
  { path: /^src\/cli\/shared\/runs/, word: /^worlds?$/, why: 'reads runs of version 0.1' },
  { path: /^src\/llm\/episode\//, word: /^(world|famil)/, why: 'reads the episodes of version 0.1' },
  { path: /^src\/engine\/tensor\//, word: /^lanes?$/, why: 'lanes of a SIMD register' },
  { path: /^src\/llm\/backend\/scalar-model/, word: /^slopes$/, why: 'a field of golden values' },
  {
    path: /^src\/llm\/pretraining\/corpus\/draw/,
    word: /^probe$/,
    why: 'the key of random streams that made the base model',
  },
  { path: /^examples\/browser\//, word: /^body$/, why: 'the body of a page' },
  { path: /^src\/classic\/(environments\/|index)/, word: /^board$/, why: 'the board of a game' },
  {
    path: /^src\/(llm\/(checkpoint|model|tokenizer|agent)\/|cli\/llm\/public-model)/,
    word: /^famil/,
    why: 'families of models: Llama, Qwen',
  },
  { path: /^src\/llm\/(environment\/(mcp|tools)|agent\/chat-format)\//, word: /^prob/, why: 'tool probing' },
  {
    path: /^(research\/|docs\/results\/papers-rule|scripts\/(judge-papers|papers-rule))/,
    word: /^verdicts?$/,
    why: 'the verdict on a claim of a paper, a field of its results',
  },
  {
    path: /^src\/(llm\/environment\/adventure\/|cli\/play\.)/,
    word: /^scene$/,
    why: 'a context feature of the adventure, which stored episodes name',
  },
  {
    path: /^src\/cli\/(papers|commands\/inspect)/,
    word: /^verdicts?$/,
    why: 'the verdict on a claim of a paper',
  },
]

const separators = /[^A-Za-z]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/
const split = (name) =>
  name
    .split(separators)
    .filter(Boolean)
    .map((word) => word.toLowerCase())

/** The terms that a run of words contains. */
function inName(name) {
  const line = ` ${split(name).join(' ')} `
  return terms.flatMap(({ names, not = [], where, use }) => {
    const rest = not.reduce((text, run) => text.replaceAll(` ${run} `, ' · '), line)
    const found = names.find((run) => rest.includes(` ${run} `))
    return found === undefined ? [] : [{ word: found, where, use }]
  })
}

function inText(text) {
  const line = ` ${text.toLowerCase().replaceAll(/[^a-z-]+/g, ' ')} `
  return terms.flatMap(({ texts = [], not = [], where, use }) => {
    const rest = not.reduce((words, run) => words.replaceAll(` ${run} `, ' '), line)
    const found = texts.find((phrase) => rest.includes(` ${phrase} `))
    return found === undefined ? [] : [{ word: found, where, use }]
  })
}

/** Calls whose texts users read, and object fields that are help or part of an error. */
const readCalls =
  /^(AgogeError|InfrastructureError|refuse|test|it|describe|option|description|argument|requiredOption|Option|addHelpText|emitWarning|out|err)$/
const readFields = new Set(['hint', 'expected', 'about', 'description', 'title', 'help', 'message', 'repair'])

/** Files in which each text with a space is checked, wherever it stands. Not tests, whose fixtures are data, or data itself. */
const hasSentences = (file) =>
  /^(src|research)\//.test(file) && !/\.test\.|\/testing\//.test(file) && !data.test(file)

/** Prompts and word lists, which are data. */
const data =
  /^(src\/llm\/pretraining\/corpus\/|src\/llm\/environment\/(definition\/words|filesystem\/(prompt-templates|paraphrases|training-templates\/)|mcp\/arguments\/(word-lists|lexicon-data)|reasoning\/kinds\/)|research\/runner\/fixtures\/)/

const nameOf = (node) => node?.name ?? node?.property?.name ?? node?.callee?.property?.name

/** Every identifier, and every text that users read, with its position. A text with a space counts as read where `all` is set. */
function* walk(node, read, all) {
  if (node === null || typeof node !== 'object') return
  if (Array.isArray(node)) {
    for (const item of node) yield* walk(item, read, all)
    return
  }
  if (node.type === 'Identifier' || node.type === 'PrivateIdentifier')
    yield { name: node.name, at: node.start }
  if (node.type === 'Literal' && typeof node.value === 'string' && (read || (all && /\s/.test(node.value))))
    yield { text: node.value, at: node.start }
  if (node.type === 'TemplateElement' && (read || (all && /\s/.test(node.value.raw))))
    yield { text: node.value.raw, at: node.start }
  if (node.type === 'CallExpression' || node.type === 'NewExpression') {
    // The name of `test.each(rows)('title', ...)` is `test`.
    let { callee } = node
    while (callee.type === 'CallExpression') ({ callee } = callee)
    if (/^(each|skipIf|runIf|skip|only)$/.test(nameOf(callee) ?? '')) callee = callee.object
    yield* walk(node.callee, read, all)
    yield* walk(node.typeArguments, false, all)
    yield* walk(node.arguments, readCalls.test(nameOf(callee) ?? ''), all)
    return
  }
  const inside = /Function/.test(node.type) ? false : read
  for (const [field, value] of Object.entries(node)) {
    if (field === 'type' || field === 'start' || field === 'end') continue
    const isRead = node.type === 'Property' && field === 'value' && readFields.has(nameOf(node.key))
    yield* walk(value, isRead || inside, all)
  }
}

const folders = process.argv.slice(2)
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && file !== 'scripts/vocabulary.mjs')
  .filter((file) => folders.length === 0 || folders.some((folder) => file.startsWith(folder)))

const found = new Map()
function note(file, line, what, hits) {
  for (const { word, where, use } of hits) {
    if (where !== undefined && !where.test(file)) continue
    if (exceptions.some((allowed) => allowed.path.test(file) && allowed.word.test(word))) continue
    const key = `${file}:${line}: ${what}`
    found.set(`${key} [${word}]`, { file, key, word, use })
  }
}

for (const file of files) {
  note(file, 0, 'the name of the file', inName(file.split('/').at(-1)))
  if (!/\.[cm]?[jt]sx?$/.test(file)) continue
  let text
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    continue
  }
  const { program } = parseSync(file, text)
  const lineOf = (at) => text.slice(0, at).split('\n').length
  for (const { name, text: shown, at } of walk(program, false, hasSentences(file))) {
    const hits = name === undefined ? inText(shown) : inName(name)
    if (hits.length > 0) note(file, lineOf(at), name ?? `"${shown.trim().slice(0, 60)}"`, hits)
  }
}

const places = [...found.values()]
const tally = (keyOf) => {
  const counts = new Map()
  for (const place of places) counts.set(keyOf(place), (counts.get(keyOf(place)) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])
}
const folderOf = ({ file }) => file.split('/').slice(0, -1).slice(0, 4).join('/') || '.'
if (places.length > 0) {
  console.error('by word:')
  for (const [word, count] of tally(({ word }) => word))
    console.error(`${String(count).padStart(6)}  ${word}`)
  console.error('by folder:')
  for (const [folder, count] of tally(folderOf)) console.error(`${String(count).padStart(6)}  ${folder}`)
  for (const { key, word, use } of places) console.error(`${key}: not "${word}" but ${use}`)
  process.exitCode = 1
}
console.log(`vocabulary: ${places.length} words to replace in ${files.length} files`)
