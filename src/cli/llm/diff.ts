import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { AgogeError } from '../../error.ts'
import { readEpisodes } from '../../llm/episode/codec.ts'
import type { Episode } from '../../llm/episode/types.ts'
import { type ChangedTask, diffTrials, sideBySide } from '../../llm/project/evaluation-diff.ts'
import type { TrialRecord } from '../../llm/project/journal.ts'
import { pointsInterval } from '../../runs/report/format.ts'
import type { Console } from '../shared/console.ts'
import { readResult } from './eval-agent.ts'

export interface DiffCommand {
  a: string
  b: string
  /** Changed tasks whose conversations are shown. */
  count: number
}

/** One side of a comparison: the trials of one model, and where their conversations are. */
interface Side {
  name: string
  model: string
  records: TrialRecord[]
  folder: string
}

/** `agoge diff`: which tasks two evaluations differ on, with the conversations side by side. */
export function runDiff({ a, b, count }: DiffCommand, terminal: Console): void {
  const [before, after] = [readSide(a), readSide(b)]
  const { difference, tasks, changed } = diffTrials(before.records, after.records)
  if (tasks === 0)
    throw new AgogeError('the two evaluations have no task in common', {
      code: 'no-tasks',
      given: `${a} and ${b}`,
      expected: 'evaluations of the same tasks',
    })
  const better = changed.filter((task) => rate(task.b) > rate(task.a)).length
  terminal.out(`a: ${before.name}\nb: ${after.name}`)
  terminal.out(
    `${changed.length} of ${tasks} tasks changed: ${better} better, ${changed.length - better} worse; b less a: ${pointsInterval(difference)}`,
  )
  const [ofA, ofB] = [episodesOf(before), episodesOf(after)]
  for (const [at, task] of changed.entries()) {
    terminal.out(`\n${task.task} (${task.kind}): ${rateText(task.a)} → ${rateText(task.b)}`)
    if (at >= count) continue
    const pair = [ofA.get(idOf(before, task, task.shown.a)), ofB.get(idOf(after, task, task.shown.b))]
    const [x, y] = pair
    if (x === undefined || y === undefined) terminal.out('  (its conversations are not stored)')
    else terminal.out(sideBySide(x, y, Math.max(60, terminal.progress.columns ?? 80)).join('\n'))
  }
}

const rate = ({ successes, trials }: ChangedTask['a']): number => successes / trials
const rateText = ({ successes, trials }: ChangedTask['a']): string => `${successes} of ${trials}`
const idOf = ({ model }: Side, { task }: ChangedTask, trial: number): string => `${model}/${task}/${trial}`

/** Reads `FOLDER` or `FOLDER#MODEL`. */
function readSide(given: string): Side {
  const mark = given.indexOf('#')
  const [folder, wanted] = mark < 0 ? [given, undefined] : [given.slice(0, mark), given.slice(mark + 1)]
  const { models, records } = readResult(folder)
  const names = models.map(({ name }) => name)
  const model = wanted ?? (names.length === 1 ? names[0] : undefined)
  if (model === undefined || !names.includes(model))
    throw new AgogeError(`which model of ${folder} is meant?`, {
      code: 'bad-option',
      given,
      expected: names.map((name) => `${folder}#${name}`).join(' or '),
    })
  return {
    name: `${model} in ${folder}`,
    model,
    folder,
    records: records.filter((record) => record.model === model),
  }
}

/** The stored conversations by id. Of one that was made again after a stop, the last counts. */
function episodesOf({ folder }: Side): Map<string, Episode> {
  const file = join(folder, 'episodes.jsonl')
  return new Map(existsSync(file) ? readEpisodes(file).map((episode) => [episode.id, episode]) : [])
}
