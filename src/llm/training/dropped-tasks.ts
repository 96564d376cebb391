import { AgogeError } from '../../error.ts'
import { percent } from '../../runs/report/format.ts'
import type { Task, TaskSource } from '../agent/types.ts'
import type { Episode } from '../episode/types.ts'
import { countReasons, reasonsText } from '../evaluation/episode-statistics.ts'
import { isDemonstration, unstableTools } from '../rollout/collect.ts'
import type { LoopState } from './state.ts'
import type { TrainingSummary } from './types.ts'

/** Messages about failed tools and masked episodes, one line each. Empty if all went well. */
export function faultLines({
  unstableTools = {},
  dropped,
  maskedReasons = {},
}: Pick<TrainingSummary, 'unstableTools' | 'dropped' | 'maskedReasons'>): string[] {
  const masked = Object.values(maskedReasons).reduce((sum, count) => sum + count, 0)
  return [
    ...Object.entries(unstableTools).map(
      ([name, { calls, failed }]) =>
        `unstable: ${name} failed in ${failed} of ${calls} calls of demonstrations (${percent(failed / calls)})`,
    ),
    ...(dropped === undefined || dropped.demonstrations === 0
      ? []
      : [`demonstrations dropped: ${dropped.demonstrations} (${reasonsText(dropped.reasons)})`]),
    ...(dropped === undefined || dropped.kinds.length === 0
      ? []
      : [`left out of training and tests: ${dropped.kinds.join(', ')}, of which no demonstration succeeded`]),
    ...(masked === 0
      ? []
      : [`masked episodes, which count nowhere: ${masked} (${reasonsText(maskedReasons)})`]),
  ]
}

/** With this many lost demonstrations and no success, chance is no explanation: this kind of task cannot be done. */
const surelyBroken = 5

/** Records demonstrations that show that a server behaves differently than when its tasks were verified. */
export function recordFailures(state: LoopState, played: readonly Episode[]): void {
  const failed = played.filter((episode) => episode.status !== 'masked' && episode.success !== true)
  const shown = new Set(played.filter(isDemonstration).map(({ kind }) => kind))
  const lost = played.filter((episode) => !isDemonstration(episode))
  const hopeless = (kind: string): boolean =>
    !shown.has(kind) && lost.filter((episode) => episode.kind === kind).length >= surelyBroken
  state.unstableTools = unstableTools(played)
  state.dropped = {
    tasks: [...new Set(failed.map(({ task }) => task))],
    kinds: [...new Set(lost.map(({ kind }) => kind))].filter(hopeless),
    demonstrations: lost.length,
    reasons: countReasons(lost.map(whyLost)),
  }
}

function whyLost({ status, error, ending, nodes }: Episode): string {
  if (status === 'masked') return error ?? ending
  if (status === 'failed') return `the plan does not fit into the limits of an episode (${ending})`
  const wrong = nodes.find(({ role, isError }) => role === 'tool' && isError === true)
  if (wrong === undefined) return 'the tools did otherwise than when the task was made'
  const name = nodes.flatMap(({ calls = [] }) => calls).find(({ id }) => id === wrong.callId)?.name
  return `${name ?? 'a tool'} failed: ${wrong.text}`
}

/** Whether demonstrations showed that the task cannot be done. */
export function isDropped({ dropped }: LoopState, { id, kind }: Pick<Task, 'id' | 'kind'>): boolean {
  return dropped !== undefined && (dropped.tasks.includes(id) || dropped.kinds.includes(kind))
}

/** The source without dropped tasks. Replaces a dropped task by another of the same kind, if there is one. */
export function withoutDropped<T extends Task>(source: TaskSource<T>, state: LoopState): TaskSource<T> {
  const kinds = source.kinds.filter((kind) => state.dropped?.kinds.includes(kind) !== true)
  return avoiding({ ...source, kinds }, (task) => isDropped(state, task))
}

/** A source that gives another task of the kind instead of one to avoid, if one is found near it. */
export function avoiding<T extends Task>(
  source: TaskSource<T>,
  isAvoided: (task: T) => boolean,
): TaskSource<T> {
  return {
    ...source,
    task(options) {
      const task = source.task(options)
      for (let at = 1; at <= 8 && isAvoided(task); at++) {
        const other = source.task({ ...options, seed: options.seed + at })
        if (!isAvoided(other)) return other
      }
      return task
    },
  }
}

/** The error if hardly any demonstration is left. */
export function tooFewDemonstrations(left: number, wanted: number, state: LoopState): AgogeError {
  return new AgogeError(`Only ${left} of ${wanted} demonstrations succeeded: too few to learn from`, {
    code: 'too-few-demonstrations',
    given: faultLines(state).join('\n'),
    expected: `at least ${Math.ceil(wanted / 10)}`,
    hint: 'Repair the tools that fail, or start the server without them, and begin a new run',
  })
}
