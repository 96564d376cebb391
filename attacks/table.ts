// The table of docs/results/attacks.md, from attacks/results.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PartResult } from './attack.ts'

const page = fileURLToPath(new URL('../docs/results/attacks.md', import.meta.url))
const [opening, closing] = ['<!-- attacks: npm run attack -->', '<!-- end of attacks -->']

/** Writes the stored results of a folder between the markers of the page. */
export function writeTable(folder: string): void {
  if (!existsSync(folder)) return
  const text = readFileSync(page, 'utf8')
  const [from, to] = [text.indexOf(opening), text.indexOf(closing)]
  if (from < 0 || to < from) throw new Error(`${page} has no line "${opening}" followed by "${closing}"`)
  const stored = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as PartResult)
  writeFileSync(page, `${text.slice(0, from)}${opening}\n\n${tableText(stored)}\n\n${text.slice(to)}`)
}

/** A line for each part with its totals, and below it each attack with what happened and its longest section. */
export function tableText(stored: readonly PartResult[]): string {
  const rows = stored.map(({ part, seed, totals, attacks }) => {
    const sections = attacks.flatMap(({ longestSection }) => longestSection ?? [])
    const longest = sections.length === 0 ? '–' : `${Math.max(...sections).toFixed(0)} ms`
    const counts = Object.entries(totals).map(([name, value]) => `${value.toLocaleString('en')} ${name}`)
    const held = attacks.filter((attack) => attack.held).length
    return `| ${[part, seed, counts.join(', '), `${held} of ${attacks.length}`, longest].join(' | ')} |`
  })
  const lists = stored.flatMap(({ part, attacks }) => [
    '',
    `### ${part}`,
    '',
    ...attacks.map(({ name, held, happened, longestSection }) => {
      const section = longestSection === undefined ? '' : ` (${longestSection.toFixed(0)} ms)`
      return `- ${escaped(name)}: ${held ? '' : '**failed.** '}${escaped(happened)}${section}`
    }),
  ])
  return [
    '| part | seed | tried | held | longest section |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    ...lists,
  ].join('\n')
}

/** Foreign text in a page: no markup, no line breaks. */
const escaped = (text: string): string =>
  text.replaceAll(/\s+/g, ' ').replaceAll(/[\\`*_{}[\]<>|#]/g, String.raw`\$&`)
