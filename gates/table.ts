import type { Gate, GateLine } from './gate.ts'
import { loadResult } from './result.ts'
import type { GateResult } from './result.ts'

const seedsOfAGate = 10
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const show = (value: number | null): string => (value === null ? '-' : String(Number(value.toFixed(2))))

/** `results/README.md`: what is stored of every gate, in the order of the table. */
export function renderTable(folder: string, gates: readonly Gate[]): string {
  const rows = gates.map((gate) => ({ gate, stored: loadResult(folder, gate) }))
  const counted = rows.filter(({ stored }) => stored.line.seeds >= seedsOfAGate)
  const passed = counted.filter(({ stored }) => stored.line.passed).length
  return [
    '# Learning gates',
    '',
    `${passed} of ${gates.length} gates passed, ${counted.length - passed} failed, ${gates.length - counted.length} not run in full. Made by \`npm run gates\`; edits are lost.`,
    '',
    'Each gate trains the seeds 1 to 10, which nobody chose; the final greedy policy of a seed plays 100 episodes. The score is',
    'the interquartile mean over seeds of their mean returns, with its 95% stratified bootstrap interval. A gate passes when',
    'that interval reaches the bar (its upper end does); where the bar is a most, all of the interval has to be there. "surely"',
    'marks a pass whose whole interval is on the right side. Settings are the published ones of the preset, but for the',
    'weight of a bonus, which is ours; in full they are in the JSON file of the gate, with the returns of all seeds.',
    '',
    row([
      'gate',
      'world',
      'preset',
      'steps',
      'bar',
      'score',
      'interval',
      'passed',
      'seeds',
      'seconds a seed',
    ]),
    row(Array.from({ length: 10 }, () => '---')),
    ...rows.map(({ gate, stored }) =>
      row([
        stored.seeds.length > 0 ? `[${gate.name}](${gate.name}.json)` : gate.name,
        gate.world,
        settingsText(gate),
        String(gate.steps),
        `${gate.direction.replace('-', ' ')} ${gate.bar}`,
        ...scoreCells(gate, stored.line),
      ]),
    ),
    '',
    '## Where the bars come from',
    '',
    ...gates.map(({ name, source }) => `- ${name}: ${source}.`),
    '',
    '## What cannot be run yet',
    '',
    ...gates.flatMap(({ name, notYet }) => (notYet === undefined ? [] : [`- ${name}: ${notYet}.`])),
    '',
    '## How they were run',
    '',
    ...rows.flatMap(({ gate, stored }) => (stored.seeds.length > 0 ? [provenance(gate, stored)] : [])),
    '',
  ].join('\n')
}

function settingsText({ algorithm, preset, config, countBonus }: Gate): string {
  const changed = config === undefined ? '' : ', changed'
  const bonus = countBonus === undefined ? '' : `, bonus for counts ${countBonus}`
  return `${algorithm} ${preset}${changed}${bonus}`
}

function scoreCells(gate: Gate, line: GateLine): string[] {
  const { iqm, low, high, passed, seeds, seconds } = line
  if (iqm === null) return ['-', '-', gate.notYet === undefined ? 'not run' : 'not possible yet', '0', '-']
  const surely = gate.direction === 'at-most' || (low !== null && low >= gate.bar)
  const verdict = passed ? (surely ? 'yes, surely' : 'yes') : 'no'
  return [
    show(iqm),
    `${show(low)} to ${show(high)}`,
    seeds < seedsOfAGate ? `not counted (${verdict} so far)` : verdict,
    String(seeds),
    (seconds / seeds).toFixed(1),
  ]
}

function provenance({ name }: Gate, { command, date, machine }: GateResult): string {
  const on = machine === null ? '' : `, ${machine.cores} cores of ${machine.cpu}, Node ${machine.node}`
  return `- ${name}: \`${command}\`, ${date}${on}.`
}
