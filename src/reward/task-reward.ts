import type { RewardFunction } from './types.ts'

/** Value of each event; missing ones count nothing. */
export interface TaskRewardSettings {
  /** Paid once when the world's own check says that the task is done. Default 1. */
  success?: number
  /** For every call, done or refused; negative to make the policy brief. */
  perCall?: number
  /** In addition, for every call that could not be understood or does not fit the tool's schema. */
  perInvalidCall?: number
  /** When the policy broke off by itself (turn or token limit) instead of answering. */
  brokenOff?: number
}

/**
 * Success as the world judges it, less small costs. Partial goals are not paid: they lead families of tasks into
 * "do the easy half". Costs are paid only down to `success`'s size below zero in practice, so keep them small:
 * a success must always be worth more than any failure.
 */
export function taskReward(settings: TaskRewardSettings = {}): RewardFunction {
  const { success = 1, perCall = 0, perInvalidCall = 0, brokenOff = 0 } = settings
  return (episode) => {
    if (episode.success === null) return null
    const parts = {
      success: episode.success ? success : 0,
      calls: perCall * episode.usage.calls,
      invalidCalls: perInvalidCall * episode.usage.invalidCalls,
      brokenOff: episode.status === 'failed' ? brokenOff : 0,
    }
    return { value: parts.success + parts.calls + parts.invalidCalls + parts.brokenOff, parts }
  }
}
