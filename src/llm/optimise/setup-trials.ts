import { existsSync } from 'node:fs'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import { decodeEpisode, readEpisodes } from '../episode/codec.ts'
import type { Episode } from '../episode/types.ts'
import type { Spending } from '../project/budget.ts'
import { runTrials } from '../project/run-trials.ts'
import type { Store } from '../project/evaluation-store.ts'
import type { TrialRecord } from '../project/journal.ts'
import type { OpenedModel } from '../project/models.ts'
import type { TrialSettings, TrialSpec } from '../project/run-trial.ts'
import { type AgentSetup, plainSetup, setupId } from '../setup/setup.ts'
import type { SetupTrial } from './lever.ts'

/** A trial that is wanted. */
export interface WantedTrial {
  setup: AgentSetup
  task: FileTask
  /** From 0. */
  trial: number
}

/** Trials of setups. Each is made once, and read again when it is wanted again. */
export interface SetupTrials {
  /**
   * Makes those that are missing side by side, and returns all in the order in which they are wanted. So nothing depends on which ends first.
   *
   * @throws BudgetEnded if the budget did not suffice for all.
   */
  run: (wanted: readonly WantedTrial[]) => Promise<readonly SetupTrial[]>
  /** Those of a setup, or all, that were wanted so far. */
  known: (setup?: AgentSetup) => readonly SetupTrial[]
  /** The sum of what all wanted trials cost: the same in a process that continues the search. */
  cost: () => Spending
}

/** The search ends here: the budget is used up. */
export class BudgetEnded extends Error {
  constructor() {
    super('the budget was reached')
    this.name = 'BudgetEnded'
  }
}

/** What the trials of a search share. */
export interface SetupTrialsOptions {
  settings: TrialSettings
  store: Store
  /** The file with the episodes of an earlier process. */
  episodesFile: string | undefined
  /** The agent's model. */
  model: OpenedModel
  concurrency: number | undefined
  onTrial: (record: TrialRecord, done: number, total: number) => void
}

/** Trials with the journal and the budget of the search. */
export function createSetupTrials(options: SetupTrialsOptions): SetupTrials {
  const { settings, store, episodesFile, model, concurrency, onTrial } = options
  const records = new Map<string, TrialRecord>(store.journal.trials)
  const episodes = new Map<string, Episode>()
  if (episodesFile !== undefined && existsSync(episodesFile))
    for (const episode of readEpisodes(episodesFile)) episodes.set(episode.id, episode)
  const wantedSoFar = new Map<string, SetupTrial>()
  const spent: Spending = { tokens: 0, dollars: 0 }

  const specOf = ({ setup, task, trial }: WantedTrial): TrialSpec => ({
    id: `${setupId(setup)}/${task.id}/${trial}`,
    task,
    trial,
    model,
    ...(setupId(setup) !== setupId(plainSetup) && { setup }),
  })

  function take(wanted: WantedTrial): SetupTrial {
    const { id } = specOf(wanted)
    const found = wantedSoFar.get(id)
    if (found !== undefined) return found
    const [record, episode] = [records.get(id), episodes.get(id)]
    if (record === undefined || episode === undefined) throw new BudgetEnded()
    const taken = { setup: wanted.setup, task: wanted.task, record, episode }
    wantedSoFar.set(id, taken)
    spent.tokens += record.cost.tokens
    spent.dollars += record.cost.dollars
    return taken
  }

  return {
    async run(wanted) {
      const specs = [...new Map(wanted.map((one) => [specOf(one).id, specOf(one)])).values()]
      // A trial whose episode was lost with the process is made again; its calls are in the journal.
      for (const { id } of specs) if (!episodes.has(id)) records.delete(id)
      await runTrials(specs, {
        settings,
        concurrency,
        records,
        keepEpisode(line) {
          store.keepEpisode(line)
          const episode = decodeEpisode(line)
          episodes.set(episode.id, episode)
        },
        emit(event) {
          if (event.type === 'trial')
            onTrial(event.record, specs.filter(({ id }) => records.has(id)).length, specs.length)
        },
      })
      return wanted.map(take)
    },
    known: (setup) => {
      const all = [...wantedSoFar.values()]
      return setup === undefined ? all : all.filter((one) => setupId(one.setup) === setupId(setup))
    },
    cost: () => ({ ...spent }),
  }
}

/** 1 for each task that was solved, 0 for the others that were tried. Of several trials of a task the last counts. */
export function scoreByTask(trials: readonly SetupTrial[]): Map<string, number> {
  return new Map(trials.map(({ task, record }) => [task.id, Number(record.success === true)]))
}
