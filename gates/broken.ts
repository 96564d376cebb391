import { findRun } from 'agoge/classic'
import type { Gate } from './gate.ts'
import { loadResult } from './result.ts'
import { row, show } from './table.ts'

/** Seeds of a broken gate: the fewest that have an interval. */
export const brokenSeeds = [1, 2, 3, 4, 5]

const stopped = { how: 'a learning rate of 0', share: 20 }

/**
 * The gate with a learner that is broken on purpose, which must fail. By default the learning rate is 0; the policy then
 * stays as it began, so a twentieth of the steps is enough. A score not to exceed is what a stopped learner has, so those
 * gates are broken by something that learns (`broken` of the gate).
 */
export function brokenGate(gate: Gate): Gate {
  const { broken, config, steps, notYet: _, peer: __, ...rest } = gate
  if (broken !== undefined)
    return { ...rest, steps, ...(config === undefined ? {} : { config }), ...broken.change }
  // Actor and critic may have rates of their own.
  const rates = Object.keys(findRun(gate).settings.config).filter((name) => /learningRate$/iu.test(name))
  const none = Object.fromEntries(rates.map((name) => [name, 0]))
  return { ...rest, config: { ...config, ...none }, steps: Math.ceil(steps / stopped.share) }
}

/** `results/broken/README.md`: the stored results of the broken gates. */
export function renderBroken(folder: string, gates: readonly Gate[]): string {
  const rows = gates
    .map((gate) => ({ gate, broken: brokenGate(gate) }))
    .map(({ gate, broken }) => ({
      gate,
      broken,
      line: loadResult(folder, broken).line,
    }))
  const run = rows.filter(({ line }) => line.low !== null)
  const failed = run.filter(({ line }) => !line.passed)
  return [
    '# Gates with a broken learner',
    '',
    `${failed.length} of ${run.length} broken gates fail, as they must; ${rows.length - run.length} of ${rows.length} have not been run. Made by \`npm run gates -- --broken\`; edits are lost.`,
    '',
    'Each gate is run again with a learner that is broken on purpose. A gate that passes all the same would not notice a',
    `learner that does not learn. With a learning rate of 0 a ${stopped.share}th of the steps is run. A score not to exceed is`,
    'broken by something that learns.',
    '',
    row(['gate', 'broken by', 'steps', 'bar', 'score', 'interval', 'failed', 'seeds']),
    row(Array.from({ length: 8 }, () => '---')),
    ...rows.map(({ gate, broken, line }) =>
      row([
        line.seeds > 0 ? `[${gate.name}](${gate.name}.json)` : gate.name,
        gate.broken?.how ?? stopped.how,
        String(broken.steps),
        `${gate.direction.replace('-', ' ')} ${gate.bar}`,
        show(line.iqm),
        line.low === null ? '-' : `${show(line.low)} to ${show(line.high)}`,
        line.low === null ? 'not run' : line.passed ? 'NO' : 'yes',
        String(line.seeds),
      ]),
    ),
    '',
  ].join('\n')
}
