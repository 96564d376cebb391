import { AgogeError, type ErrorCode } from 'agoge'
import { intervalText } from 'agoge/statistics'
import { type CheckOutcome, type Comparison, effectText, short } from '../runner/judge.ts'
import type { Paper, PaperRuns } from '../runner/paper.ts'
import { sameArm } from '../runner/paper.ts'
import { designOf, pilotFrom, type Plan, planHash } from '../runner/plan.ts'
import { type PaperResult, paperResult, resultText } from '../runner/result.ts'
import { type PaperRunOptions, runPaper, type Scored } from '../runner/run-paper.ts'
import {
  gitState,
  loadPaper,
  moduleHash,
  paperWorker,
  type PlacedPaper,
  planFile,
  planOf,
  resultFile,
  resultOf,
} from './places.ts'
import type { KeptLines, Terminal } from './terminal.ts'

interface RunPaperCommand {
  id: string
  quick?: boolean
  workers?: number
  /** Goes on with the scores that a stopped call kept. */
  resume?: boolean
  commandLine: string
}

/**
 * `agoge papers run ID`: runs every arm with every seed of the plan and writes the result with its verdict. Loads no other paper.
 * While it runs, scores are kept in `ID.partial.jsonl` beside the result.
 *
 * @throws AgogeError without a plan, with one that is not committed or of another design or code, or that has a result.
 */
export async function runPaperCommand(
  command: RunPaperCommand,
  terminal: Terminal,
  folder?: string,
): Promise<void> {
  const { id, quick = false, resume = false } = command
  if (quick && resume)
    throw new AgogeError('a quick run keeps nothing', {
      code: 'bad-option',
      given: '--quick and --resume',
      expected: 'one of both: --resume is of a whole run',
    })
  const placed = await loadPaper(id, folder)
  terminal.err(`${placed.paper.title}\n${placed.paper.claim}`)
  if (quick) return quickRun(placed, command, terminal)
  const plan = runnablePlan(placed, terminal)
  const to = resultFile(id)
  const kept = terminal.keepLines(
    `${to.replace(/\.json$/, '')}.partial.jsonl`,
    { schema: 2, id, plan: planHash(plan) },
    { resume },
  )
  if (resume) terminal.err(`${kept.earlier.length} scores were kept`)
  const runs = await scoreArms(placed, { plan, kept, command }, terminal)
  const result = paperResult(placed.paper, plan, runs, {
    command: command.commandLine.replace(' --resume', ''),
    date: new Date(),
    machine: terminal.machine,
  })
  terminal.out(resultPage(placed.paper, result, terminal))
  terminal.writeWhole(to, resultText(result))
  kept.remove()
  terminal.out(to)
}

/** One seed of the pilot with a small budget: no plan, no verdict, no result. */
async function quickRun(
  { paper, file }: PlacedPaper,
  { workers }: RunPaperCommand,
  terminal: Terminal,
): Promise<void> {
  const { arms } = await runPaper(paper, {
    ...paperWorker,
    file,
    quick: true,
    seeds: { from: pilotFrom, to: pilotFrom },
    ...(workers === undefined ? {} : { workers }),
    signal: terminal.signal,
    onScore: (scored) => terminal.err(progressLine(scored)),
  })
  const rows = Object.entries(arms).map(([arm, { scores, measures }]) => [
    arm,
    short(scores[0]),
    Object.entries(measures)
      .map(([name, values]) => `${name} ${short(values[0])}`)
      .join(', '),
  ])
  terminal.out(`\n${terminal.table(['arm', 'score', 'measures'], rows)}`)
  terminal.out('a quick run: it shows that the experiment runs, not what comes of it')
}

/** The plan, if the paper may run under it. */
function runnablePlan({ paper, file }: PlacedPaper, terminal: Terminal): Plan {
  const { id } = paper
  const [plan, place] = [planOf(id), planFile(id)]
  const refuse = (message: string, code: ErrorCode, given: string, expected: string, hint: string): never => {
    throw new AgogeError(message, { code, given, expected, hint })
  }
  const again = `agoge papers plan ${id}, and commit ${place}`
  if (plan === undefined)
    return refuse(`"${id}" has no plan`, 'no-plan', 'no plan', `a plan in ${place}`, again)
  const [design, planned] = [JSON.stringify(designOf(paper)), JSON.stringify(plan.design)]
  if (design !== planned)
    return refuse('the paper has another design than its plan', 'plan-changed', design, planned, again)
  const module = moduleHash(file)
  if (module !== plan.module)
    return refuse('the code has changed since the plan', 'plan-changed', module, plan.module, again)
  if (resultOf(id)?.plan.hash === planHash(plan))
    return refuse(
      `the seeds ${plan.seeds.from} to ${plan.again.to} have a result`,
      'seeds-used',
      resultFile(id),
      'a plan without a result: a rerun takes new seeds',
      again,
    )
  const state = gitState(place)
  if (state === 'uncommitted')
    return refuse(
      'the plan is not committed',
      'plan-uncommitted',
      place,
      'a plan that git has',
      `git commit ${place}`,
    )
  if (state === 'no repository')
    terminal.err('no git repository: nothing shows that the plan was made before the run')
  if (plan.underpowered !== null) terminal.err(`underpowered by its plan: ${plan.underpowered}`)
  return plan
}

async function scoreArms(
  { paper, file }: PlacedPaper,
  { plan, kept, command }: { plan: Plan; kept: KeptLines; command: RunPaperCommand },
  terminal: Terminal,
): Promise<PaperRuns> {
  const { workers } = command
  const options: PaperRunOptions = {
    ...paperWorker,
    file,
    seeds: plan.seeds,
    again: { arm: sameArm(paper), seeds: plan.again },
    ...(workers === undefined ? {} : { workers }),
    done: kept.earlier.map((line) => line as object as Scored),
    signal: terminal.signal,
    onScore(scored) {
      const { left: _, ...line } = scored
      kept.keep(line)
      terminal.err(progressLine(scored))
    },
  }
  try {
    return await runPaper(paper, options)
  } catch (error) {
    terminal.err(`to go on: ${command.commandLine.replace(' --resume', '')} --resume`)
    throw error
  }
}

/** Progress of a run. */
export const progressLine = ({ arm, seed, score, seconds, left }: Scored & { left: number }): string =>
  `${arm}  seed ${seed}: ${short(score)}  (${seconds.toFixed(1)} s, ${left} to go)`

/** Progress of a pilot, whose scores must not be seen. */
export const progressWithoutScore = ({ arm, seed, seconds, left }: Scored & { left: number }): string =>
  `${arm}  seed ${seed}  (${seconds.toFixed(1)} s, ${left} to go)`

function resultPage(paper: Paper, result: PaperResult, { table }: Terminal): string {
  const arms = Object.entries(result.arms).map(([arm, { score, start, unreached }]) => [
    arm,
    short(score.mean),
    intervalText(score, short),
    start === undefined ? '' : short(start),
    unreached === 0 ? '' : String(unreached),
  ])
  const { effect, higherIsBetter = true } = paper
  return [
    '',
    `${paper.metric}, ${higherIsBetter ? 'higher' : 'lower'} is better:`,
    table(['arm', 'mean', '95% interval', 'start', 'cut off'], arms),
    '',
    `effect that counts: ${effect.scale === 'ratio' ? `${effect.atLeast} times` : effect.atLeast}`,
    ...[...result.comparisons, ...result.others].map((one) => comparisonLine(one, paper)),
    ...result.checks.map(checkLine),
    `verdict: ${result.verdict}`,
  ].join('\n')
}

const comparisonLine = (comparison: Comparison, { effect }: Paper): string =>
  `${comparison.better} against ${comparison.than}: ${effectText(comparison, effect)}, p = ${short(comparison.p)}, ${comparison.outcome}`

/** A check in one line. */
export const checkLine = ({ kind, about, found, expected, passed }: CheckOutcome): string =>
  `${passed ? 'passed' : 'FAILED'}  ${kind}: ${about} (${found}; expected: ${expected})`
