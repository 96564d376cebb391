import type { AgentSetup } from '../../setup/setup.ts'
import type { Proposal, SetupTrial } from '../lever.ts'
import type { ModelTraining, TrainedModel } from '../model-training.ts'

/** A setup with a trained model in place of the agent's. */
export const withTrained = (setup: AgentSetup, name: string, { folder, about }: TrainedModel): Proposal => ({
  setup: { ...setup, model: name, checkpoints: { [name]: folder } },
  about,
})

/** Tokens of the calls of a trial. */
export const tokensIn = ({ episode: { usage } }: SetupTrial): number =>
  usage.promptTokens + usage.sampledTokens

/** The reason of a lever whose shortest training the budget does not allow. */
export function lacksTokens(least: number, { share }: ModelTraining): string | undefined {
  const most = share()
  if (least <= most) return undefined
  return `the budget: a training takes at least ${Math.ceil(least)} tokens, and one may take ${Math.max(0, Math.floor(most))}`
}
