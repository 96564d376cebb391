import { reasonsText } from '../../evaluation/summarise.ts'
import type { TrainingSummary } from '../types.ts'
import { percent } from '../../../runs/report/format.ts'

/** What a run has to say of tools that failed and of episodes that count nowhere, one line each; none where all went well. */
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
