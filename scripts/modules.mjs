// npm run lint: a module of src/ may import only modules listed before it, so there are no cycles, and neither product
// imports the other. Tests and files under testing/ may import any module of their own product.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Modules in the order of imports. A module is a folder of src/ or of a product, or a file directly in one of these. */
export const modules = [
  'error.ts',
  'memory-error.ts',
  'closest-name.ts',
  'import-file.ts',
  'defined.ts',
  'event-loop.ts',
  'thread-queue.ts',
  'untrusted',
  'engine/random',
  'engine/tensor',
  'engine/nn',
  'engine',
  'statistics',
  'runs',
  'returns',
  'classic/environment',
  'classic/replay',
  'classic/policy',
  'classic/algorithm',
  'classic/tabular',
  'classic/algorithms.ts',
  'classic/environments',
  'classic/bandit',
  'classic/training',
  'classic',
  'llm/episode',
  'llm/grammar',
  'llm/in-parallel.ts',
  'llm/model-backend.ts',
  'llm/tokenizer',
  'llm/model',
  'llm/adapter',
  'llm/checkpoint',
  'llm/sampling',
  'llm/backend',
  'llm/tool',
  'llm/agent',
  'llm/evaluation',
  'llm/reward',
  'llm/audit',
  'llm/environment',
  'llm/algorithm',
  'llm/rollout',
  'llm/training',
  'llm/pretraining',
  'llm/setup',
  'llm/serving',
  'llm/gateway',
  'llm/project',
  'llm/optimise',
  'llm',
  'cli/shared',
  'cli/classic',
  'cli/llm',
  'cli',
]

const root = fileURLToPath(new URL('../src', import.meta.url))
const moduleOf = (path) => {
  const parts = path.split('/')
  if (parts.length === 1) return parts[0]
  const inner = parts.slice(0, 2).join('/')
  return modules.includes(inner) ? inner : parts[0]
}
const product = (name) => /^(classic|llm)\b/.exec(name)?.[0]
const loose = (path) => /\.test\.ts$|\/(testing|golden|fixtures)\//.test(path)
// These import everything: the entries of the package.
const entries = new Set(['index.ts', 'browser.ts', 'browser.test.ts'])

const problems = []
for (const file of readdirSync(root, { recursive: true })) {
  if (!file.endsWith('.ts') || entries.has(file)) continue
  const from = file.split(sep).join('/')
  const text = readFileSync(join(root, file), 'utf8')
  for (const [, specifier] of text.matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g)) {
    const to = relative(root, join(root, dirname(file), specifier))
      .split(sep)
      .join('/')
    const [a, b] = [moduleOf(from), moduleOf(to)]
    if (to.startsWith('..') || a === b) continue
    const across = product(a) !== undefined && product(b) !== undefined && product(a) !== product(b)
    if (!modules.includes(b)) problems.push(`${from}: ${to} is in no module of scripts/modules.mjs`)
    else if (across)
      problems.push(`${from} imports ${to}: the products classic and llm do not import each other`)
    else if (loose(from)) continue
    else if (modules.indexOf(b) > modules.indexOf(a))
      problems.push(`${from} imports ${to}: ${a} stands below ${b}`)
  }
}
// What comes from outside passes src/untrusted. The type of `JSON.parse` lets anything through.
/** Modules that read texts of their user's, of the system or of their own. */
const ownTexts =
  /^(?:cli\/run-cli|runs\/process-group|runs\/temporary-folder|llm\/environment\/filesystem\/task|llm\/environment\/mcp\/server\/(?:mariadb|postgres|redis))\.ts$/
for (const file of readdirSync(root, { recursive: true })) {
  const from = file.split(sep).join('/')
  if (!from.endsWith('.ts') || loose(from) || from.startsWith('untrusted/')) continue
  const text = readFileSync(join(root, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
  if (/\bJSON\s*\.\s*parse\b/.test(text))
    problems.push(
      `${from} calls JSON.parse: take parseForeignJson, or parseOwnJson for what the process made itself`,
    )
  if (!ownTexts.test(from) && /\breadFile(?:Sync)?\([^)]*['"]utf-?8/.test(text))
    problems.push(`${from} reads a text that others may have written: take readForeignFile`)
}
// What stands outside the library uses its exports.
for (const folder of ['research', 'examples', 'bench', 'gates']) {
  const at = fileURLToPath(new URL(`../${folder}`, import.meta.url))
  for (const file of readdirSync(at, { recursive: true })) {
    if (!/\.tsx?$/.test(file) || loose(file.split(sep).join('/')) || file.includes('node_modules')) continue
    const inside = /from '((?:\.\.\/)+src\/[^']+)'/.exec(readFileSync(join(at, file), 'utf8'))
    if (inside !== null)
      problems.push(`${folder}/${file} imports ${inside[1]}: use the exports of the package`)
  }
}
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
else console.log(`modules: ${modules.length} in order`)
