import { AgogeError } from 'agoge'
import { type CheckOutcome, judge, short } from '../runner/judge.ts'
import type { Paper, PaperRuns } from '../runner/paper.ts'
import { fewestSeeds, makePlan, pilotFrom, pilotSeeds as usualPilot, type Plan } from '../runner/plan.ts'
import { resultText } from '../runner/result.ts'
import { runPaper } from '../runner/run-paper.ts'
import { loadPaper, moduleHash, paperWorker, planFile, planOf, resultOf } from './places.ts'
import { checkLine, progressWithoutScore } from './run.ts'
import type { Terminal } from './terminal.ts'

interface PlanPaperCommand {
  id: string
  /** Seeds of the pilot, from 101. Default: 12. */
  pilotSeeds?: number
  /** The most seeds of the plan. Default: 1000. */
  most?: number
  /** Limit of the computing time of the run in minutes, by the times of the pilot. */
  minutes?: number
  workers?: number
  commandLine: string
}

/**
 * `agoge papers plan ID`: runs a pilot on seeds from 101, computes how many seeds the effect needs, and writes the plan. Seeds begin
 * at 1001, and after those of every earlier plan and result of the paper.
 *
 * @throws AgogeError if the paper has no manipulation check or no control, or names measures that its arms do not return.
 */
export async function planPaperCommand(
  command: PlanPaperCommand,
  terminal: Terminal,
  folder?: string,
): Promise<void> {
  const { id, pilotSeeds = usualPilot, workers } = command
  const { paper, file } = await loadPaper(id, folder)
  refuseUncontrolled(paper)
  terminal.err(`${paper.title}\n${paper.claim}`)
  // Before the pilot: it fails early, and a change during the pilot is noticed by the run.
  const module = moduleHash(file)
  const seeds = { from: pilotFrom, to: pilotFrom + pilotSeeds - 1 }
  const runs = await runPaper(paper, {
    ...paperWorker,
    file,
    seeds,
    ...(workers === undefined ? {} : { workers }),
    signal: terminal.signal,
    onScore: (scored) => terminal.err(progressWithoutScore(scored)),
  })
  const plan = makePlan(paper, {
    module,
    pilot: { runs, seeds },
    most: mostSeeds(command, runs, pilotSeeds),
    used: lastUsed(id),
    command: command.commandLine,
    date: new Date(),
  })
  // Neither scores nor effects of the pilot are shown: a design must not be chosen by them.
  for (const check of judge(paper, runs).checks.filter(({ kind }) => kind === 'manipulation'))
    terminal.out(`pilot: ${checkLine(withoutScore(check))}`)
  terminal.out(planPage(plan, terminal))
  terminal.writeWhole(planFile(id), resultText(plan))
  terminal.out(`${planFile(id)}: commit it, then run agoge papers run ${id}`)
}

/** A check of the score itself says whether it passed, not by how much. */
const withoutScore = (check: CheckOutcome): CheckOutcome => ({
  ...check,
  found: check.found.replace(/^mean of score: .*/, 'mean of score: not shown'),
})

function refuseUncontrolled({ id, checks = [], control }: Paper): void {
  const missing = [
    ...(checks.length === 0 ? ['checks'] : []),
    ...(control === undefined ? ['control'] : []),
  ].join(' and ')
  if (missing === '') return
  throw new AgogeError(`"${id}" cannot be planned without ${missing}`, {
    code: 'bad-paper',
    given: `no ${missing}`,
    expected: 'a manipulation check and a positive control',
    hint: 'A check shows that the mechanism was active, a control that the experiment can show an effect',
  })
}

function mostSeeds({ most = 1000, minutes }: PlanPaperCommand, { arms }: PaperRuns, pilots: number): number {
  if (minutes === undefined) return most
  const seconds = Object.values(arms).reduce((sum, arm) => sum + arm.seconds, 0) / pilots
  return Math.max(fewestSeeds, Math.min(most, Math.floor((60 * minutes) / seconds)))
}

const lastUsed = (id: string): number => Math.max(planOf(id)?.again.to ?? 0, resultOf(id)?.again.to ?? 0)

function planPage(plan: Plan, { table }: Terminal): string {
  const rows = plan.comparisons.map(({ better, than, atLeast, deviation, bound, seeds }) => [
    `${better} against ${than}`,
    short(atLeast),
    short(deviation),
    short(bound),
    String(seeds),
  ])
  const count = plan.seeds.to - plan.seeds.from + 1
  return [
    '',
    table(['comparison', 'effect', 'deviation', 'its bound', 'seeds'], rows),
    `seeds ${plan.seeds.from} to ${plan.seeds.to}, and ${plan.again.from} to ${plan.again.to} for the A/A control`,
    `about ${short((count * plan.pilot.secondsPerSeed) / 60)} minutes of computing`,
    ...(plan.underpowered === null ? [] : [`underpowered before it runs: ${plan.underpowered}`]),
  ].join('\n')
}
