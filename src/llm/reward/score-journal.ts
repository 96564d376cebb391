import { damagedFile, readWithChecksum, sha256, withChecksum } from '../../runs/checksums.ts'
import type { RunFolder } from '../../runs/run-folder.ts'
import type { Scored, Unscored } from '../episode/score.ts'
import type { Episode } from '../episode/types.ts'
import type { ScoreJournal } from './reward.ts'

/**
 * Scores in a file of a run folder, one line each, written as they arrive. A process that resumes plays the episodes since the last
 * checkpoint again, the same to the token, and reads their scores here: a judge is asked once, and whatever it would say the second time
 * does not change the run.
 *
 * @param file below the run folder; who makes checkpoints removes it with each.
 * @throws AgogeError `bad-run-folder` where a line of the file is not what was written.
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

/** The id alone would not do: where an interrupted run samples a batch with newer weights, other episodes have the ids of lost ones. */
function keyOf({ id, nodes }: Episode): string {
  return `${id} ${sha256(JSON.stringify(nodes.map(({ role, text, calls }) => [role, text, calls])))}`
}
