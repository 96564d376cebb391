import type { Spending } from '../project/budget.ts'
import type { AgogeConfig } from '../project/config.ts'
import { meterModel } from '../project/metered-model.ts'
import { openModels, type OpenedModel } from '../project/models.ts'
import type { TrialSettings } from '../project/run-trial.ts'
import type { ProposalRequest, Proposer } from '../project/optimise-settings.ts'
import { checkProposals, proposeWith } from './proposer.ts'

type ProposingFunction = Extract<Proposer, (...given: never) => unknown>

/** A proposer, ready to be asked. */
export interface OpenedProposer {
  source: OpenedModel | ProposingFunction
  dispose: () => Promise<void>
}

/** Under which the result of a function is kept. */
const functionKey = 'propose'

/** Finds a proposer as the models of the config are found, with their prices. */
export async function openProposer(
  proposer: Proposer | undefined,
  config: AgogeConfig,
  root: string,
): Promise<OpenedProposer | undefined> {
  if (proposer === undefined) return undefined
  if (typeof proposer === 'function') return { source: proposer, dispose: () => Promise.resolve() }
  const [model] = await openModels({ ...config, models: [proposer] }, root)
  return { source: model, dispose: model.dispose }
}

/**
 * Asks for proposals. Calls of a model are limited and kept like those of trials, and results of a function are kept, so a continued search gets the
 * same ones. A model that fails proposes nothing.
 *
 * @param id of this question within the search.
 */
export async function askProposer(
  proposer: OpenedProposer | undefined,
  asked: Omit<ProposalRequest, 'signal'>,
  { settings, id }: { settings: TrialSettings; id: string },
): Promise<{ texts: readonly string[]; cost: Spending; fault?: string }> {
  const cost: Spending = { tokens: 0, dollars: 0 }
  if (proposer === undefined) return { texts: [], cost }
  const { journal, budget, limits, signal } = settings
  const request: ProposalRequest = { ...asked, signal }
  if (typeof proposer.source === 'function') {
    const kept = journal.tool(id, functionKey)
    if (kept !== undefined && kept !== 'started' && 'result' in kept)
      return { texts: kept.result as readonly string[], cost }
    const texts = checkProposals(await proposer.source(request), asked.count)
    journal.write({ type: 'tool', trial: id, key: functionKey, result: texts })
    return { texts, cost }
  }
  let fault: Error | undefined
  const model = meterModel(proposer.source, {
    trial: id,
    journal,
    budget,
    limits,
    signal,
    onCall: () => {},
    onCost({ tokens, dollars }) {
      cost.tokens += tokens
      cost.dollars += dollars
    },
    onFault: (error) => (fault = error),
  })
  try {
    return { texts: await proposeWith(model, request), cost }
  } catch (error) {
    if (fault === undefined || signal.aborted) throw error
    return { texts: [], cost, fault: fault.message }
  }
}
