import type { Gate, GateLine } from './gate.ts'
import { loadPeer } from './peer-result.ts'
import type { PeerResult } from './peer-result.ts'
import { loadResult, reachesBar } from './result.ts'
import type { GateResult } from './result.ts'

const seedsOfAGate = 10
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
const show = (value: number | null): string => (value === null ? '-' : String(Number(value.toFixed(2))))

/** `results/README.md`: the stored results of every gate, in the order of the table. */
export function renderTable(folder: string, gates: readonly Gate[]): string {
  const rows = gates.map((gate) => ({ gate, stored: loadResult(folder, gate), peer: loadPeer(folder, gate) }))
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
    'marks a pass whose whole interval is on the right side. Where it does not reach the bar, a gate passes "with its peer" if',
    'it overlaps the interval of the reference (a script of `bench/peers/`), run here for the same seeds, steps and settings:',
    'the published levels are of one to three seeds, and most of them returns of training, not of the final policy. Settings are',
    'the published ones of the preset, but for the weight of a bonus, which is ours; in full they are in the JSON file of the',
    'gate, with the returns of all seeds.',
    '',
    row([
      'gate',
      'environment',
      'preset',
      'steps',
      'bar',
      'score',
      'interval',
      'peer',
      'passed',
      'seeds',
      'seconds a seed',
    ]),
    row(Array.from({ length: 11 }, () => '---')),
    ...rows.map(({ gate, stored, peer }) =>
      row([
        stored.seeds.length > 0 ? `[${gate.name}](${gate.name}.json)` : gate.name,
        gate.environment,
        settingsText(gate),
        String(gate.steps),
        `${gate.direction.replace('-', ' ')} ${gate.bar}`,
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
    'A gate may pass with the upper end of its interval alone. What the seeds say then:',
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

function scoreCells(gate: Gate, line: GateLine, peer: PeerResult | null): string[] {
  const { iqm, low, high, passed, seeds, seconds } = line
  if (iqm === null)
    return ['-', '-', '-', gate.notYet === undefined ? 'not run' : 'not possible yet', '0', '-']
  if (low === null || high === null)
    return [
      show(iqm),
      '-',
      peerCell(peer),
      'not counted (too few seeds for an interval)',
      String(seeds),
      (seconds / seeds).toFixed(1),
    ]
  const surely = gate.direction === 'at-most' || low >= gate.bar
  const yes = reachesBar(gate, high) ? (surely ? 'yes, surely' : 'yes') : 'yes, with its peer'
  const passes = passed ? yes : 'no'
  return [
    show(iqm),
    `${show(low)} to ${show(high)}`,
    peerCell(peer),
    seeds < seedsOfAGate ? `not counted (${passes} so far)` : passes,
    String(seeds),
    (seconds / seeds).toFixed(1),
  ]
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
