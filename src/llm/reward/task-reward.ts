import type { RewardFunction } from './types.ts'

/** Value of each event; missing ones count nothing. */
export interface TaskRewardSettings {
  /** Paid once when the environment's own check says that the task is done. Default 1. */
  success?: number
  /** For every call of an episode that succeeded; negative to make the policy brief. */
  perCall?: number
  /** In addition, for every call of a success that could not be understood or does not fit the tool's schema. */
  perInvalidCall?: number
  /** When the policy broke off by itself (turn or token limit) instead of answering. */
  brokenOff?: number
}

/**
 * Success as the environment judges it, less small costs. Partial goals are not paid: they lead families of tasks into
 * "do the easy half". Costs are taken from successes only: where a whole group fails, a cost of calls would be all
 * that its members differ in, and the policy would learn to fail without trying. Keep them small: a success must
 * always be worth more than any failure.
 */
export function taskReward(settings: TaskRewardSettings = {}): RewardFunction {
  const { success = 1, perCall = 0, perInvalidCall = 0, brokenOff = 0 } = settings
  return (episode) => {
    if (episode.success === null) return null
    const parts = {
      success: episode.success ? success : 0,
      calls: episode.success ? perCall * episode.usage.calls : 0,
      invalidCalls: episode.success ? perInvalidCall * episode.usage.invalidCalls : 0,
      brokenOff: episode.status === 'failed' ? brokenOff : 0,
    }
    return { value: parts.success + parts.calls + parts.invalidCalls + parts.brokenOff, parts }
  }
}
