import { AgogeError } from '../../../error.ts'
import { isRecord } from '../../../untrusted/schema-check.ts'
import { readTask } from '../../environment/mcp/goals/task-file.ts'
import { readEpisodes } from '../../episode/codec.ts'
import type { Trial } from '../config.ts'

/** The file of the conversations in the folder of an evaluation. */
export const episodesFile = 'episodes.jsonl'

/**
 * The trials of a stored evaluation in which the agent gave an answer, whatever became of its scores. Of one that was made again after a
 * stop, the last counts.
 *
 * @throws AgogeError `bad-episode` if a line is none of an evaluation.
 */
export function readTrials(file: string): Trial[] {
  const trials = readEpisodes(file)
    .filter(({ ending }) => ending === 'answered')
    .map((episode, at): Trial => {
      const { given, output, model } = episode as Partial<Trial>
      if (!isRecord(given) || !('output' in episode))
        throw new AgogeError(`${file} is not of an evaluation of an agent`, {
          code: 'bad-episode',
          given: `episode ${at + 1} without a task or an output`,
          expected: 'what agoge eval writes with an agoge.config',
        })
      const task = readTask(given, `${file}, episode ${at + 1}`, { needsExpected: false })
      // Evaluations of earlier versions name the model in the group alone.
      const name = typeof model === 'string' ? model : episode.group.slice(0, -(task.id.length + 1))
      return { ...episode, given: task, output, model: name }
    })
  return [...new Map(trials.map((trial) => [trial.id, trial])).values()]
}
