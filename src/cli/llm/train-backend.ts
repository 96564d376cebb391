import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { loadTokenizer } from '../../llm/backend/base-model.ts'
import type { SamplingWeights } from '../../llm/sampling/quantised-weights.ts'
import { createTinkerBackend, isAgogeServer, serverUrl } from '../../llm/backend/tinker/index.ts'
import type { TrainableBackend, TrainingPlan } from '../../llm/training/types.ts'
import type { Console } from '../shared/console.ts'

/** Where `agoge train` trains. */
export interface BackendOptions {
  backend?: string
  tinkerUrl?: string
  tinkerModel?: string
  samplingWeights?: SamplingWeights
}

/** Where `agoge serve --tinker` is unless told otherwise. */
const usualUrl = 'http://127.0.0.1:8000'

/** The options as a run keeps them, without the key, which comes from the environment; none for training in this process. */
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
 * What makes the backend of a run, or nothing where it trains in this process. A resumed run may find its server elsewhere: `moved`
 * is its address then.
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
 * The plan as the server can carry it out: Muon is Agoge's own, every other server has AdamW alone, at the learning rate of reinforcement
 * learning, which is AdamW's. A run that goes on keeps the plan that it began with.
 *
 * @throws AgogeError where there is no server, or it refuses the key.
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
