import { basename, dirname, join, resolve } from 'node:path'
import { AgogeError } from '../../error.ts'
import {
  checkJudges,
  type JudgesCheck,
  keepChecks,
  type RaterCheck,
  type ScoredTrial,
  type ScorerCheck,
} from '../../llm/project/judging/check-judges.ts'
import { judgeAgain } from '../../llm/project/judging/judge-again.ts'
import type { Judge } from '../../llm/project/judging/judges.ts'
import { type Label, labelsFile, readLabels } from '../../llm/project/judging/labels.ts'
import { episodesFile, readTrials } from '../../llm/project/judging/stored-trials.ts'
import { kappaText, spendingText } from '../../llm/project/evaluation-text.ts'
import { checkFile, writeWhole } from '../../runs/files.ts'
import { count, percent, percentInterval } from '../../runs/report/format.ts'
import { type Console, table } from '../shared/console.ts'
import { readConfig, readResult } from './eval-agent.ts'
import { belowThresholdCode } from './eval.ts'

export interface JudgeCheckCommand {
  folder: string
  labels?: string
  config?: string
  scorer?: string[]
  threshold: number
  json?: string
}

/** `agoge judge check`: compares scorers with labels. Returns the exit code. */
export async function runJudgeCheck(command: JudgeCheckCommand, terminal: Console): Promise<number> {
  const { folder, threshold, json } = command
  if (json !== undefined) checkFile(json)
  const file = command.labels ?? join(folder, labelsFile)
  const labels = readLabels(file)
  if (labels.length === 0)
    throw new AgogeError(`there are no labels in ${file}`, {
      code: 'bad-option',
      given: file,
      expected: 'lines of {"trial": "MODEL/TASK/NUMBER", "rater": "NAME", "success": true}',
      hint: `agoge label ${folder}`,
    })
  const { judges, trials } =
    command.config === undefined
      ? storedScores(folder)
      : await askAgain(command.config, folder, labels, terminal)
  const check = checkJudges(trials, labels, { judges, threshold })
  if (check.labelled === 0)
    throw new AgogeError(`no label of ${file} is of a trial of ${folder}`, {
      code: 'bad-option',
      given: labels[0].trial,
      expected: trials[0]?.id ?? 'a trial',
    })
  const deciding = decidingScorers(check.scorers, command.scorer)
  terminal.out([...tableOf(check), '', ...notesOf(check, deciding, threshold)].join('\n'))
  keepChecks(sharedFolder(command), check.scorers)
  if (json !== undefined) writeWhole(json, `${JSON.stringify(check, null, 2)}\n`)
  const untrusted = deciding.filter(({ agreement: { kappa } }) => kappa.low === null || kappa.low < threshold)
  return untrusted.length === 0 ? 0 : belowThresholdCode
}

function storedScores(folder: string): { judges: readonly Judge[]; trials: ScoredTrial[] } {
  const { judges = [], records } = readResult(folder) as Partial<ReturnType<typeof readResult>> &
    Pick<ReturnType<typeof readResult>, 'records'>
  return {
    judges,
    trials: records.map(({ model, task, trial, scores }) => ({
      id: `${model}/${task}/${trial}`,
      task,
      scores,
    })),
  }
}

async function askAgain(
  config: string,
  folder: string,
  labels: readonly Label[],
  { err, signal }: Console,
): Promise<{ judges: readonly Judge[]; trials: ScoredTrial[] }> {
  const labelled = new Set(labels.map(({ trial }) => trial))
  const trials = readTrials(join(folder, episodesFile))
  const tasks = new Set(trials.flatMap(({ id, task }) => (labelled.has(id) ? [task] : [])))
  const root = dirname(resolve(config))
  const found = await judgeAgain(
    await readConfig(config),
    trials.filter(({ task }) => tasks.has(task)),
    { folder: root, shared: join(root, '.agoge'), labelled, signal },
  )
  err(`the judges were asked again: ${spendingText(found.spent)}`)
  return found
}

/** Where evaluations look for checks: beside the config, or where this evaluation is. */
function sharedFolder({ config, folder }: JudgeCheckCommand): string {
  if (config !== undefined) return join(dirname(resolve(config)), '.agoge')
  const home = dirname(dirname(resolve(folder)))
  return basename(home) === '.agoge' ? home : resolve('.agoge')
}

function decidingScorers(
  scorers: readonly ScorerCheck[],
  names: readonly string[] | undefined,
): ScorerCheck[] {
  if (names === undefined) {
    const judges = scorers.filter(({ judge }) => judge !== undefined)
    return judges.length > 0 ? judges : [...scorers]
  }
  return names.map((name) => {
    const found = scorers.find(({ scorer }) => scorer === name)
    if (found !== undefined) return found
    throw new AgogeError(`the evaluation has no scorer "${name}"`, {
      code: 'bad-option',
      given: name,
      expected: scorers.map(({ scorer }) => scorer).join(', '),
    })
  })
}

function tableOf({ scorers }: JudgesCheck): string[] {
  const rows = scorers.map(({ scorer, judge, agreement, falsePass, falseFail, unjudged }) => {
    const { yy, yn, ny, nn } = agreement.counts
    const rate = (estimate: typeof falsePass): string => (estimate.n === 0 ? '-' : percentInterval(estimate))
    return [
      judge === undefined ? scorer : `${scorer} (${judge.model})`,
      kappaText(agreement.kappa),
      percent(agreement.raw),
      rate(falsePass),
      rate(falseFail),
      `${yy} ${yn} ${ny} ${nn}`,
      String(unjudged),
    ]
  })
  const header = ['scorer', 'kappa (95%)', 'agrees', 'false pass', 'false fail', 'yy yn ny nn', 'unjudged']
  return [table(header, rows)]
}

function notesOf(
  { labelled, split, raters }: JudgesCheck,
  deciding: readonly ScorerCheck[],
  threshold: number,
): string[] {
  return [
    'yn: labelled as a success, and not passed by the scorer; ny: the other way round',
    ...deciding.map((check) => decisionText(check, threshold)),
    `${count(labelled)} labelled trials${split === 0 ? '' : `; ${split} more on which the raters are split evenly`}`,
    ...raters.map(raterText),
  ]
}

function decisionText(
  { scorer, agreement: { kappa }, labelsNeeded }: ScorerCheck,
  threshold: number,
): string {
  const about = `${scorer}: kappa of at least ${threshold}`
  if (kappa.low !== null && kappa.low >= threshold) return `${about}: shown`
  if (kappa.high !== null && kappa.high < threshold) return `${about}: shown to be less`
  const more =
    labelsNeeded === null || labelsNeeded === 0
      ? ''
      : `; about ${count(labelsNeeded)} more labels would settle it`
  return `${about}: not shown${more}`
}

function raterText({ a, b, agreement: { kappa, pairs } }: RaterCheck): string {
  return `raters ${a} and ${b}: kappa ${kappaText(kappa)} on ${pairs} trials that both have labelled`
}
