import { randomUUID } from 'node:crypto'
import type { CallOptions, LanguageModel } from '../agent/ai-sdk/read-call.ts'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import type { Episode } from '../episode/types.ts'
import type { GatewayOptions } from '../gateway/gateway.ts'
import { type GatewayModel, localGatewayModel } from '../gateway/local-model.ts'
import { recordCalls } from '../gateway/record-calls.ts'
import { RequestError } from '../serving/openai/protocol.ts'
import { BudgetReached } from './budget.ts'
import type { AgogeConfig, Trial } from './config.ts'
import { createTrialEndpoints } from './endpoint.ts'
import { openJournal } from './journal.ts'
import { openJudges } from './judging/judges.ts'
import { refuseGroups, scoreTrial, settle } from './judging/score-trials.ts'
import { meterModel } from './metered-model.ts'
import { openModels } from './models.ts'
import { configuredEnvironment, readTasks } from './prepare.ts'
import { trialSettings } from './run-trials.ts'

/** The models and the score of a config, for a gateway. */
export interface GatewayParts {
  models: GatewayModel[]
  score: NonNullable<GatewayOptions['score']>
  dispose: () => Promise<void>
}

/**
 * Opens the models of a config for a gateway. Their calls are limited, retried and counted in the budget of the config, as in an evaluation.
 * A session is scored as a trial of the task that it names, or of one that has the first words of its user as its prompt.
 *
 * @throws AgogeError as `openModels` does.
 */
export async function openGatewayParts(
  config: AgogeConfig,
  root: string,
  signal: AbortSignal,
): Promise<GatewayParts> {
  const configured = configuredEnvironment(config, root, { signal })
  const tasks = new Map(
    (await readTasks(config, root, configured, { signal })).map((task) => [task.id, task]),
  )
  const opened = await openModels(config, root)
  const judges = await openJudges(config, root, opened)
  const endpoints = createTrialEndpoints()
  const journal = openJournal(undefined, {})
  const settings = trialSettings(config, {
    journal,
    environment: undefined,
    models: opened,
    judges,
    endpoints,
    root,
    signal,
  })
  const { budget, limits, scorers } = settings
  const dispose = async (): Promise<void> => {
    await configured.close()
    await judges.dispose()
    for (const model of opened) await model.dispose()
  }
  try {
    refuseGroups(scorers, 'a gateway')
  } catch (error) {
    await dispose()
    throw error
  }
  return {
    models: opened.map((model): GatewayModel => {
      const { name, local } = model
      if (local !== undefined) return localGatewayModel({ name, ...local })
      return {
        name,
        open(session) {
          const { nodes, samples, usage, onCall } = recordCalls(session.restored)
          const metered = meterModel(model, {
            trial: randomUUID(),
            journal,
            budget,
            limits,
            signal,
            onCall,
            onCost: () => {},
            // The client gets the same error.
            onFault: () => {},
          })
          return { model: withBudget(metered), record: { nodes, samples, usage } }
        },
      }
    }),
    async score(episode, { output }) {
      const given = tasks.get(episode.task) ?? taskOf(episode)
      const trial: Trial = { ...episode, model: 'gateway', given, output: output ?? lastText(episode) }
      settle(trial, await scoreTrial(trial, scorers), scorers)
      const { rewards, success } = trial
      // Rewards that were sent count as those of the scorers do.
      const isBelow = episode.rewards.some(({ value }) => value !== null && value < 1)
      return { ...trial, rewards, success: success === true && isBelow ? false : success }
    },
    dispose,
  }
}

/** A call that the budget does not allow is answered with a status that no client tries again. */
function withBudget(model: LanguageModel): LanguageModel {
  const refuse = (error: unknown): never => {
    throw error instanceof BudgetReached ? new RequestError(402, 'budget_reached', error.message) : error
  }
  return {
    ...model,
    doGenerate: (options: CallOptions) => model.doGenerate(options).catch(refuse),
    doStream: (options: CallOptions) => model.doStream(options).catch(refuse),
  }
}

const taskOf = ({ task, nodes }: Episode): FileTask => ({
  id: task,
  prompt: nodes.find(({ role }) => role === 'user')?.text ?? '',
})

const lastText = ({ nodes }: Episode): string =>
  nodes.findLast(({ role, calls = [] }) => role === 'assistant' && calls.length === 0)?.text ?? ''
