import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { loadTokenizer } from '../../llm/backend/base-model.ts'
import type { SamplingWeights } from '../../llm/sampling/quantised-weights.ts'
import { createTinkerBackend, isAgogeServer } from '../../llm/backend/tinker/tinker-backend.ts'
import { serverUrl } from '../../llm/backend/tinker/transport.ts'
import type { TrainableBackend, TrainingPlan } from '../../llm/training/types.ts'
import type { Console } from '../shared/console.ts'

/** Where `agoge train` trains. */
export interface BackendOptions {
  backend?: string
  tinkerUrl?: string
  tinkerModel?: string
  samplingWeights?: SamplingWeights
}

/** Default address of `agoge serve --tinker`. */
const usualUrl = 'http://127.0.0.1:8000'

/**
 * The backend options as a run stores them, without the key, which comes from the environment. Undefined for training
 * in this process.
 */
export function backendSettings({
  backend = 'local',
  tinkerUrl,
  tinkerModel,
  samplingWeights,
}: BackendOptions): BackendOptions {
  if (backend === 'tinker' && samplingWeights === undefined) {
    const url = serverUrl(tinkerUrl ?? process.env['TINKER_BASE_URL'] ?? usualUrl).href.replace(/\/$/, '')
    return { backend, tinkerUrl: url, ...defined({ tinkerModel }) }
  }
  if (backend === 'local' && tinkerUrl === undefined && tinkerModel === undefined)
    return samplingWeights === undefined ? {} : { samplingWeights }
  throw new AgogeError('The options of the backend do not fit together', {
    code: 'bad-option',
    given:
      backend === 'local'
        ? '--tinker-url or --tinker-model without --backend tinker'
        : `--backend ${backend}${samplingWeights === undefined ? '' : ' --sampling-weights'}`,
    expected:
      '--backend local with --sampling-weights, or --backend tinker with --tinker-url and --tinker-model',
  })
}

/**
 * Makes the backend of a run; undefined if it trains in this process.
 *
 * @param moved new address of the server, if a resumed run's server has moved.
 */
export function backendOf(
  { backend, tinkerUrl = usualUrl, tinkerModel }: BackendOptions,
  {
    model,
    loraRank,
    moved,
    terminal,
  }: { model: string; loraRank: number | undefined; moved: string | undefined; terminal: Console },
): { backend?: () => Promise<TrainableBackend> } {
  if (backend !== 'tinker') return {}
  const { signal } = terminal
  const options = {
    onTrouble: (text: string) => terminal.err(text),
    baseUrl: moved ?? tinkerUrl,
    ...defined({ model: tinkerModel, loraRank }),
  }
  return {
    backend: async () =>
      createTinkerBackend({ ...options, tokenizer: await loadTokenizer(model) }, { signal }),
  }
}

/**
 * Adapts the plan to the server. Only Agoge's own server has Muon; others get AdamW at the learning rate of
 * reinforcement learning. A resumed run keeps its plan.
 *
 * @throws AgogeError if there is no server, or it refuses the key.
 */
export async function planForBackend(
  plan: TrainingPlan,
  { backend, tinkerUrl = usualUrl }: BackendOptions,
  { signal }: Console,
): Promise<TrainingPlan> {
  if (backend !== 'tinker' || (await isAgogeServer({ baseUrl: tinkerUrl }, { signal }))) return plan
  const { warmStart, supervised, reinforcement } = plan
  const step = { optimizer: 'adamw', learningRate: reinforcement.learningRate } as const
  return { ...plan, warmStart: { ...warmStart, ...step }, supervised: { ...supervised, ...step } }
}
