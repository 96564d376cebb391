import { defined } from '../../../defined.ts'
import { average } from '../../../statistics/statistics.ts'
import type { FileTask } from '../../environment/mcp/goals/task-file.ts'
import type { Score } from '../../episode/score.ts'
import type { Episode } from '../../episode/types.ts'
import type { AgentProgram, AgentTask } from '../../rollout/agents/rollout-agent.ts'
import { InfrastructureError } from '../../tool/tool.ts'
import type { Trial } from '../config.ts'
import { scoreTrial, settle } from '../judging/score-trials.ts'
import { type AgentSetup, plainSetup } from '../../setup/setup.ts'
import { withSetup } from '../../setup/with-setup.ts'
import { type Played, playAgent, type TrialSettings } from '../run-trial.ts'

/** A task of a config, as rollouts take it. */
export interface ConfigTask extends AgentTask {
  kind: string
  given: FileTask
}

export const toConfigTask = (given: FileTask): ConfigTask => ({
  id: given.id,
  kind: given.kind ?? 'own',
  given,
})

/**
 * The agent of a config as a program for rollouts. Its tools, its environment and its scorers are those of the trials of an evaluation: faults
 * of a tool mask the episode, and so does a scorer that cannot judge.
 *
 * @param version a number that changes with the weights, so that a tool which runs is called again for the same episode of later weights.
 * @param setup what is changed about the prompt of its calls. Default: nothing.
 */
export function agentProgram(
  settings: TrialSettings,
  version: () => number | undefined = () => undefined,
  setup: AgentSetup = plainSetup,
): AgentProgram<ConfigTask, Played> {
  return {
    name: 'agent',
    async run({ given }, { model: trained, signal, episode }) {
      const model = withSetup(trained, setup)
      const done = new AbortController()
      const faults: string[] = []
      const onFault = (reason: string): void => void faults.push(reason)
      const { journal } = settings
      const id = `${episode}@${version() ?? 0}`
      const endpoint = settings.endpoints.of({
        model,
        name: 'trained',
        onFault: ({ message }) => onFault(message),
      })
      const played = await playAgent(given, {
        ...settings,
        model,
        endpoint: endpoint.open,
        tools: settings.tools({ id, journal, onFault }),
        trial: memberOf(episode),
        signal: AbortSignal.any([signal, done.signal]),
        done,
        onFault,
        isFaulty: () => faults.length > 0,
      })
        .catch((error: unknown) => {
          if (faults.length === 0) throw error
        })
        .finally(endpoint.close)
      // What the agent threw after a fault says nothing about it.
      if (played === undefined || faults.length > 0) throw new InfrastructureError(faults[0])
      return played
    },
    judge: (task, played, episode) => judge(settings, task, played, episode),
  }
}

/** The last part of the id of an episode: its number in its group. */
const memberOf = (episode: string): number => Number(/\/(\d+)$/.exec(episode)?.[1] ?? 0)

/** 1 where each scorer gives at least 1. The scores themselves are its parts. */
async function judge(
  { scorers }: TrialSettings,
  { given }: ConfigTask,
  { output, judgement }: Played,
  episode: Parameters<AgentProgram<ConfigTask, Played>['judge']>[2],
): Promise<Score> {
  const trial: Trial = {
    ...episode,
    model: 'trained',
    status: 'ok',
    ending: 'answered',
    success: null,
    rewards: [],
    given,
    output,
    ...defined({ judgement }),
  }
  const scores = await scoreTrial(trial, scorers)
  settle(trial, scores, scorers)
  if (trial.status === 'masked') return { value: null, ...defined({ reason: trial.error }) }
  return { value: Number(trial.success), parts: scores as Record<string, number> }
}

/** The reward of training: the mean of the scores of the config; 0 for an episode that was broken off before it had any. */
export function meanScore({ success, rewards }: Episode): number | null {
  if (success === null) return null
  const scores = rewards.flatMap(({ name, value }) =>
    name.startsWith('part:') && value !== null ? [value] : [],
  )
  return scores.length === 0 ? Number(success) : average(scores)
}

/** The mean of the scores of an episode of an evaluation, whose rewards have the names of the scorers; their parts are `NAME:PART`. */
export function meanTrialScore({ success, rewards }: Episode): number | null {
  if (success === null) return null
  const scores = rewards.flatMap(({ name, value }) => (name.includes(':') || value === null ? [] : [value]))
  return scores.length === 0 ? Number(success) : average(scores)
}
