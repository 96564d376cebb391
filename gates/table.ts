import { fewestSeeds, seedsOf } from './gate.ts'
import type { Gate, GateLine } from './gate.ts'
import { loadPeer } from './peer-result.ts'
import type { PeerResult } from './peer-result.ts'
import { clearsBar, loadResult } from './result.ts'
import type { GateResult } from './result.ts'

export const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
export const show = (value: number | null): string =>
  value === null ? '-' : String(Number(value.toFixed(2)))

/** `results/README.md`: the stored results of every gate, in the order of the table. */
export function renderTable(folder: string, gates: readonly Gate[]): string {
  const rows = gates.map((gate) => ({ gate, stored: loadResult(folder, gate), peer: loadPeer(folder, gate) }))
  const counts = { passed: 0, failed: 0, open: 0 }
  for (const { gate, stored } of rows) counts[standing(gate, stored.line)]++
  return [
    '# Learning gates',
    '',
    `${counts.passed} of ${gates.length} gates passed, ${counts.failed} failed, ${counts.open} not run in full. Made by \`npm run gates\`; edits are lost.`,
    '',
    'Each gate trains the seeds from 1 on, which nobody chose; the final greedy policy of a seed plays 100 episodes. The score is',
    'the interquartile mean over seeds of their mean returns, with its 95% stratified bootstrap interval. A gate passes when',
    'the whole interval is on the right side of the bar: the lower end reaches a score to reach, the upper end stays below a',
    'score not to exceed. Where it does not, a score to reach passes "with its peer" if it is not inferior to the reference (a',
    'script of `bench/peers/`), run here for the same seeds, steps and settings: the one-sided 95% interval of the difference',
    'of the interquartile means, ours less theirs, lies above -2% of the range of the score. The peer is "-" where it was not run.',
    '',
    'The interquartile mean leaves out the worst quarter of the seeds, so the mean and the failed seeds stand beside it. A seed',
    'failed if its return is below the middle between a policy that has learnt nothing and the bar, or above a score not to',
    'exceed. A gate has ten seeds. Where ten left open whether it reaches its bar, or is not inferior to its peer, it has 30, a number that was chosen before',
    'the others were run. A gate counts as passed when all its seeds are run, and as failed from ten on.',
    '',
    'The published levels are of one to three seeds, those of MinAtar of 30, and most of them returns of training, not of the final policy. Settings',
    'are the published ones of the preset, but for the weight of a bonus, which is ours; in full they are in the JSON file of',
    'the gate, with the returns of all seeds. [Gates with a broken learner](broken/README.md) must fail.',
    '',
    row([
      'gate',
      'environment',
      'preset',
      'steps',
      'bar',
      'range of the score',
      'interquartile mean',
      'interval',
      'mean',
      'failed seeds',
      'peer',
      'passed',
      'seeds',
      'seconds a seed',
    ]),
    row(Array.from({ length: 14 }, () => '---')),
    ...rows.map(({ gate, stored, peer }) =>
      row([
        stored.seeds.length > 0 ? `[${gate.name}](${gate.name}.json)` : gate.name,
        gate.environment,
        settingsText(gate),
        String(gate.steps),
        `${gate.direction.replace('-', ' ')} ${gate.bar}`,
        gate.range.join(' to '),
        ...scoreCells(gate, stored.line, peer),
      ]),
    ),
    '',
    '## Where the bars come from',
    '',
    ...gates.map(({ name, source }) => `- ${name}: ${source}.`),
    '',
    '## How to read those that do not clear their bar',
    '',
    ...gates.flatMap(({ name, reading }) => (reading === undefined ? [] : [`- ${name}: ${reading}.`])),
    '',
    ...(gates.some(({ notYet }) => notYet !== undefined)
      ? [
          '## What cannot be run yet',
          '',
          ...gates.flatMap(({ name, notYet }) => (notYet === undefined ? [] : [`- ${name}: ${notYet}.`])),
          '',
        ]
      : []),
    '## How they were run',
    '',
    ...grouped([
      ...rows.flatMap(({ gate, stored }) => (stored.seeds.length > 0 ? [provenance(gate, stored)] : [])),
      ...rows.flatMap(({ peer }) => (peer === null ? [] : [peerProvenance(peer)])),
    ]),
    '',
  ].join('\n')
}

function settingsText({ algorithm, preset, config, countBonus }: Gate): string {
  const changed = config === undefined ? '' : ', changed'
  const bonus = countBonus === undefined ? '' : `, bonus for counts ${countBonus}`
  return `${algorithm} ${preset}${changed}${bonus}`
}

/** A pass counts with all seeds of the gate, a failure from ten seeds on. */
function standing(gate: Gate, { seeds, passed }: GateLine): 'passed' | 'failed' | 'open' {
  if (seeds < (passed ? seedsOf(gate) : fewestSeeds)) return 'open'
  return passed ? 'passed' : 'failed'
}

function scoreCells(gate: Gate, line: GateLine, peer: PeerResult | null): string[] {
  const { iqm, low, high, mean, failures, seeds, seconds } = line
  if (iqm === null)
    return ['-', '-', '-', '-', '-', gate.notYet === undefined ? 'not run' : 'not possible yet', '0', '-']
  return [
    show(iqm),
    low === null ? '-' : `${show(low)} to ${show(high)}`,
    show(mean),
    String(failures),
    peerCell(peer),
    low === null || high === null
      ? 'not counted (too few seeds for an interval)'
      : passCell(gate, line, { low, high }),
    seeds < seedsOf(gate) ? `${seeds} of ${seedsOf(gate)}` : String(seeds),
    (seconds / seeds).toFixed(1),
  ]
}

function passCell(gate: Gate, line: GateLine, interval: { low: number; high: number }): string {
  const passes = line.passed ? (clearsBar(gate, interval) ? 'yes' : 'yes, with its peer') : 'no'
  return standing(gate, line) === 'open' ? `not counted (${passes} so far)` : passes
}

function peerCell(peer: PeerResult | null): string {
  if (peer === null) return '-'
  if (peer.interval === null) return `${peer.seeds.length} seeds, not counted`
  const { iqm, low, high } = peer.interval
  return `[${show(iqm)}, ${show(low)} to ${show(high)}](peers/${peer.name}.json)`
}

/** What was run, and how. */
type Provenance = readonly [what: string, how: string]

function provenance({ name }: Gate, { command, date, machine }: GateResult): Provenance {
  const on = machine === null ? '' : `, ${machine.cores} cores of ${machine.cpu}, Node ${machine.node}`
  return [name, `\`${command}\`, ${date}${on}`]
}

function peerProvenance({ name, peer, command, date, machine, seeds }: PeerResult): Provenance {
  const on = machine === null ? '' : `, ${machine.cores} cores of ${machine.cpu}, ${machine.versions}`
  const seconds = seeds.reduce((sum, seed) => sum + seed.seconds, 0) / seeds.length
  const what = `peer of ${name} (${peer.join(' ')}, ${seeds.length} seeds of ${seconds.toFixed(1)} s)`
  return [what, `\`${command}\`, ${date}${on}`]
}

/** One line for all gates that were run the same way. */
function grouped(all: readonly Provenance[]): string[] {
  const ways = new Map<string, string[]>()
  for (const [what, how] of all) ways.set(how, [...(ways.get(how) ?? []), what])
  return [...ways].map(([how, what]) => `- ${what.join(', ')}: ${how}.`)
}
