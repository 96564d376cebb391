import { AgogeError } from '../../error.ts'
import { sha256 } from '../../runs/checksums.ts'
import { lockRun } from '../../runs/lock.ts'
import { openRunFolder } from '../../runs/run-folder.ts'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import { type AgogeConfig, scorersOf } from './config.ts'
import { openJournal } from './journal.ts'
import type { Judge } from './judging/judges.ts'
import { episodesFile } from './judging/stored-trials.ts'
import type { OpenedModel } from './models.ts'
import { type AgentSetup, setupId } from '../setup/setup.ts'

/** What decides the trials of an evaluation. Limits may change when it is continued, and the budget. */
export function identityOf(
  config: AgogeConfig,
  tasks: readonly FileTask[],
  models: readonly (OpenedModel & { setup?: AgentSetup })[],
  judges: readonly Judge[],
): object {
  const setups = models.flatMap(({ setup }) => (setup === undefined ? [] : [setupId(setup)]))
  return {
    schema: 1,
    models: models.map(({ name }) => name),
    ...(setups.length > 0 && { setups }),
    trials: config.trials ?? 1,
    scorers: Object.keys(scorersOf(config)),
    tasks: sha256(JSON.stringify(tasks)),
    // Evaluations without judges are named as they were before there were any.
    ...(judges.length > 0 && { judges: judges.map(({ id }) => id) }),
  }
}

/** Where an evaluation keeps what it has done. */
export interface Store {
  journal: ReturnType<typeof openJournal>
  keepEpisode: (line: string) => void
  writeResult: (file: string, result: object) => void
}

/** The file of what is done, in the folder of an evaluation. */
export const journalFile = 'journal.jsonl'
/** The file of the result in the folder of an evaluation. */
export const resultFile = 'evaluation.json'

/**
 * Opens the folder of an evaluation, which no other process may use at the same time. Without `out` nothing is stored.
 *
 * @throws AgogeError if there is an evaluation and `resume` is false, or if it is of something else.
 */
export async function withStore<T>(
  { out, resume = false }: { out?: string; resume?: boolean },
  identity: object,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  if (out === undefined) {
    if (resume)
      throw new AgogeError('an evaluation without a folder cannot be continued', {
        code: 'bad-argument',
        given: 'resume without out',
        expected: 'out: the folder of the evaluation',
      })
    return use({ journal: openJournal(undefined, identity), keepEpisode: () => {}, writeResult: () => {} })
  }
  const folder = openRunFolder({ path: out })
  const release = lockRun(folder)
  try {
    const journal = openJournal(folder.file(journalFile), identity, { resume })
    return await use({
      journal,
      keepEpisode: (line) => folder.append(episodesFile, [line]),
      writeResult: (file, result) => folder.write(file, `${JSON.stringify(result, null, 2)}\n`),
    })
  } finally {
    release()
  }
}
