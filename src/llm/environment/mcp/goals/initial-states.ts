import { createRandom, type Random } from '../../../../engine/random/index.ts'
import type { Task } from '../../../agent/types.ts'
import { splitKey } from '../../../episode/split.ts'
import { InfrastructureError } from '../../../tool/tool.ts'
import { UnusableSchema } from '../arguments/schema-parts.ts'
import { wordsOf } from '../arguments/words.ts'
import { seedArguments } from '../mcp-task.ts'
import { shownRecords } from '../profile/observers.ts'
import type { Probe } from '../profile/tool-probing.ts'
import type { PlainObject } from '../salient.ts'
import { type EpisodeState, newState, type StateCall, type StateCallOptions } from '../server/state-pool.ts'
import type { ToolSystem } from '../tool-system.ts'

/** How the state of a task begins. */
export interface InitialState {
  /** The calls that make it from the server's own state. */
  seeds: StateCall[]
  /** Records that it has and the server's own state has not, with the declarations of their tables. */
  fresh: PlainObject[]
}

/** Draws initial states for the tasks of a split, of at most so many different ones. Default: 48. */
export type InitialStates = (split: Task['split'], random: Random, most?: number) => Promise<InitialState>

/** How often a task begins in the state that the server has of its own. */
const untouchedShare = 0.3
/** Different states of a split, beside the server's own. Finding out what is in one takes as long as a call or two. */
const mostStates = 48
const mostChanges = 3
/** Draws of a state, some of which the server may refuse. */
const mostDraws = 4

/**
 * States for the tasks of a server that has records of its own. It always starts with the same few, which a policy would learn by
 * heart instead of reading them. So most tasks begin after up to three changes of any kind.
 */
export function createInitialStates(
  system: ToolSystem,
  { kinds, creators, harvest }: Pick<Probe, 'kinds' | 'creators' | 'harvest'>,
  seed: number,
  options: StateCallOptions,
): InitialStates {
  const writers = kinds
    .filter(({ tools }) => tools.length === 1 && tools[0].kind === 'write')
    .map(({ tools }) => tools[0])
  const untouched: InitialState = { seeds: [], fresh: [] }
  const states = new Map<string, Promise<InitialState>>()
  let own: Promise<ReadonlySet<string>> | undefined

  const recordsAt = async (state: EpisodeState): Promise<PlainObject[]> =>
    (await system.sights(state, system.observers, options)).flatMap(shownRecords)

  async function make(split: Task['split'], index: number, draw = 0): Promise<InitialState> {
    const random = createRandom(seed, 'initial state', splitKey(split), index, draw)
    try {
      const seeds = Array.from({ length: 1 + random.int(mostChanges) }, (): StateCall => {
        const tool = random.pick(writers)
        const { inputSchema, name } = tool.spec
        const context = { random, words: wordsOf(split), known: harvest, reuse: !creators.includes(tool) }
        return { name, arguments: seedArguments(inputSchema, context) }
      })
      own ??= recordsAt(newState()).then((records) => new Set(records.map(textOf)))
      const shown = await recordsAt(newState(seeds))
      const first = await own
      const fresh = shown.filter((record) => !first.has(textOf(record)))
      return { seeds, fresh: withTables(fresh, harvest) }
    } catch (error) {
      if (!(error instanceof UnusableSchema) && !(error instanceof InfrastructureError)) throw error
      options.signal?.throwIfAborted()
      return draw + 1 < mostDraws ? make(split, index, draw + 1) : untouched
    }
  }

  return async (split, random, most = mostStates) => {
    const index = random.next() < untouchedShare ? undefined : random.int(most)
    if (index === undefined || writers.length === 0) return untouched
    const name = `${split} ${index}`
    const known = states.get(name)
    if (known !== undefined) return known
    const made = make(split, index)
    states.set(name, made)
    return made
  }
}

const textOf = (record: PlainObject): string => JSON.stringify(record)

/** These records after the declarations of the tables that have them as rows. */
function withTables(rows: readonly PlainObject[], known: readonly PlainObject[]): PlainObject[] {
  const tables = known.filter(({ columns }) => {
    if (!Array.isArray(columns)) return false
    const names = columns.map((column) => /^\w+/.exec(String(column))?.[0])
    return rows.some((row) => names.every((name) => name !== undefined && name in row))
  })
  return [...tables, ...rows]
}
