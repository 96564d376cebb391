import type { Task } from '../agent/types.ts'
import { decodeEpisode, encodeEpisode } from '../episode/codec.ts'
import type { Episode } from '../episode/types.ts'
import { reasonsText, summariseEpisodes } from '../evaluation/summarise.ts'
import { isDropped } from './dropped-tasks.ts'
import { checkedLines, hasChecked, writeChecked } from '../../runs/checked-files.ts'
import { evaluate } from './job.ts'
import type { Job } from './job.ts'
import type { RunFolder } from '../../runs/run-folder.ts'
import type { StageName } from './types.ts'

const evaluationFile = (stage: string): string => `evaluations/${stage}.jsonl`

/** Evaluates the policy on the test tasks, keeps every episode, and adds the stage to the summary. */
export async function runStage<T extends Task>(
  job: Job<T>,
  name: StageName,
  trainingSeconds: number,
): Promise<void> {
  const { state, options, folder, emit } = job
  if (options.program !== undefined && options.plan.tasks.test === 0) return
  emit({ type: 'phase', name: `test ${name}`, total: options.plan.tasks.test })
  const { episodes, summary, seconds } = await evaluate(job, name, 'test', options.plan.tasks.test)
  writeEpisodes(folder, name, episodes)
  state.stages.push({
    name,
    ...summary,
    seconds: trainingSeconds,
    evaluationSeconds: seconds,
  })
  if (summary.masked > 0)
    emit({
      type: 'note',
      text: `${summary.masked} of ${episodes.length} episodes were masked and count nowhere: ${reasonsText(summary.maskedReasons)}`,
    })
}

/** Leaves dropped families out of the stages that were measured before they were known, so that all stages have the same tasks. */
export function restateStages<T extends Task>({ state, folder }: Job<T>): void {
  if (state.dropped === undefined || state.dropped.kinds.length === 0) return
  for (const stage of state.stages) {
    const left = stageEpisodes(folder, stage.name).filter(
      ({ task, kind }) => !isDropped(state, { id: task, kind }),
    )
    Object.assign(stage, summariseEpisodes(left))
  }
}

/** Evaluates the policy on phrasings whose words never occurred in training; reported, not gated. */
export async function runUnseenParaphrases<T extends Task>(job: Job<T>): Promise<void> {
  const { state, options, folder, emit } = job
  const count = options.plan.tasks.unseenParaphrases
  if (count === 0) return
  emit({ type: 'phase', name: 'unseen wording', total: count })
  const { episodes, summary } = await evaluate(job, 'unseen-wording', 'unseen-wording', count)
  if (episodes.length === 0) return
  writeEpisodes(folder, 'unseen-wording', episodes)
  state.unseenParaphrases = { success: summary.success, kinds: summary.kinds }
}

function writeEpisodes(folder: RunFolder, stage: string, episodes: readonly Episode[]): void {
  writeChecked(
    folder,
    evaluationFile(stage),
    episodes.map((episode) => `${encodeEpisode(episode)}\n`).join(''),
  )
}

/** The test episodes of a finished stage, in the order of the tasks. */
export function stageEpisodes(folder: RunFolder, stage: StageName): Episode[] {
  const file = evaluationFile(stage)
  if (!hasChecked(folder, file)) return []
  return checkedLines(folder, file).map((line, at) => decodeEpisode(line, `${folder.file(file)}:${at + 1}`))
}
