import { damagedFile, readWithChecksum, sha256, withChecksum } from '../../runs/checksums.ts'
import type { RunFolder } from '../../runs/run-folder.ts'
import type { Scored, Unscored } from '../episode/score.ts'
import type { Episode } from '../episode/types.ts'
import type { ScoreJournal } from './reward.ts'

/**
 * A file of scores in a run folder, one line per score, appended as they arrive. A resumed process replays the episodes since
 * the last checkpoint token for token and reads their scores here. So a judge is asked only once, and a different second answer
 * cannot change the run.
 *
 * @param file path below the run folder. The caller removes it at each checkpoint.
 * @throws AgogeError `bad-run-folder` if a line of the file is damaged.
 */
export function createScoreJournal(folder: RunFolder, file: string): ScoreJournal {
  const earlier = new Map(
    folder.lines(file).map((line) => {
      const { key, score } = (readWithChecksum(line)?.fields ?? {}) as Partial<Entry>
      if (key !== undefined && score !== undefined) return [key, score] as const
      throw damagedFile(folder.file(file), { given: line.slice(0, 80), expected: 'scores of episodes' })
    }),
  )
  return {
    get: (episode) => (earlier.size === 0 ? undefined : earlier.get(keyOf(episode))),
    put: (episode, score) => folder.append(file, [withChecksum({ key: keyOf(episode), score }).trimEnd()]),
  }
}

interface Entry {
  key: string
  score: Scored | Unscored
}

/**
 * The key holds more than the id: an interrupted run that samples a batch again with newer weights reuses ids for different
 * episodes.
 */
function keyOf({ id, nodes }: Episode): string {
  return `${id} ${sha256(JSON.stringify(nodes.map(({ role, text, calls }) => [role, text, calls])))}`
}
