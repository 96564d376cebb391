// npm run docs:figures: writes the tables of algorithms, advantages and losses in docs/guides/algorithms.md and
// docs/guides/losses.md from their definitions (src/llm/algorithm/definitions.ts), each between a pair of markers.
// docs/algorithms.test.ts fails if one is out of date.
import * as library from '../src/llm/algorithm/losses/index.ts'
import { advantages, losses, preferenceLosses } from '../src/llm/algorithm/catalogue.ts'
import type { Definition } from '../src/llm/algorithm/catalogue.ts'
import { policyPresets } from '../src/llm/algorithm/policy-optimisation/presets.ts'
import type { PolicyPreset } from '../src/llm/algorithm/policy-optimisation/presets.ts'
import { describeFields } from '../src/llm/algorithm/setting-fields.ts'

const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [header, header.map(() => '---'), ...rows].map(row).join('\n')
const code = (text: string): string => (text === '' ? '' : `\`${text}\``)

const presets: readonly PolicyPreset[] = Object.values(policyPresets)
const presetTable = table(
  ['name', 'what it is', 'arXiv'],
  presets.map(({ name, about, source = '' }) => [code(name), about, source]),
)

const settingsOf = ({ settings }: Definition): string => code(describeFields(settings))

const advantageTable = table(
  ['name', 'advantage of an episode', 'one for each', 'statistics of', 'needs', 'settings'],
  Object.values(advantages).map((each) => [
    code(each.name),
    each.about,
    each.per ?? 'episode',
    each.over ?? 'group',
    each.needs ?? 'several episodes of a task',
    settingsOf(each),
  ]),
)

const lossTable = table(
  ['name', 'what it does', 'settings'],
  Object.values(losses).map((each) => [code(each.name), each.about, settingsOf(each)]),
)

/** The function of a definition, by naming convention, if `agoge/losses` exports it. */
function functionOf({ kind, name }: Definition): string {
  const words = name
    .replaceAll('+', '-plus')
    .replaceAll(/-+(.)/g, (_, letter: string) => letter.toUpperCase())
  const plain = `${words}${kind === 'advantage' ? 'Advantages' : 'Loss'}`
  const record = { advantage: 'advantages', loss: 'losses', preference: 'preferenceLosses' }[kind]
  return code(plain in library ? plain : `${record}['${name}'].compute`)
}

const formulaTable = (definitions: readonly Definition[]): string =>
  table(
    ['name', 'function', 'formula', 'source'],
    definitions.map((each) => [
      code(each.name),
      functionOf(each),
      each.formula,
      each.source?.join(', ') ?? '',
    ]),
  )

/** The tables of each page, by the name in their markers. */
export const algorithmTables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'docs/guides/algorithms.md': { presets: presetTable, advantages: advantageTable, losses: lossTable },
  'docs/guides/losses.md': {
    advantages: formulaTable(Object.values(advantages)),
    losses: formulaTable(Object.values(losses)),
    preferences: formulaTable(Object.values(preferenceLosses)),
  },
}

/** The text of a page with its tables between their markers. @throws Error if a marker is missing. */
export function withTables(text: string, tables: Readonly<Record<string, string>>): string {
  return Object.entries(tables).reduce((page, [name, content]) => {
    const [opening, closing] = [`<!-- ${name}: npm run docs:figures -->`, `<!-- end of ${name} -->`]
    const [from, to] = [page.indexOf(opening), page.indexOf(closing)]
    if (from < 0 || to < from) throw new Error(`a page has no line "${opening}" followed by "${closing}"`)
    return `${page.slice(0, from)}${opening}\n\n${content}\n\n${page.slice(to)}`
  }, text)
}
