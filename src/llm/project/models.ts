import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createRequire } from 'node:module'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { createLanguageModel } from '../agent/ai-sdk/language-model.ts'
import { readChatFormat } from '../agent/chat-format/open-format.ts'
import { modelFolder } from '../checkpoint/checkpoint.ts'
import { loadModel } from '../backend/base-model.ts'
import { hasWeights } from '../model/weight-files.ts'
import type { AgogeConfig, AnyLanguageModel, LocalRun, ModelReference, Price, Provider } from './config.ts'
import type { LocalModelOptions } from '../gateway/local-model.ts'

/** A model of the config, ready to be called. */
export interface OpenedModel {
  name: string
  model: AnyLanguageModel
  /** Runs in this process: its calls cost nothing, and the same seed gives the same answer. */
  isLocal: boolean
  price: Price | undefined
  /** The parts of a model of this process. */
  local?: Omit<LocalModelOptions, 'name'>
  dispose: () => Promise<void>
}

/**
 * Opens the models of a config. Texts go to `providers` by what stands before the first slash, or else to the gateway of the AI SDK that is
 * installed beside the config.
 *
 * @param folder of the config, where paths and packages are looked up.
 * @throws AgogeError `unknown-model` if a model cannot be found, `duplicate-model` if two have the same name, `bad-config` if a budget in
 *   dollars lacks the price of a model.
 */
export async function openModels(config: AgogeConfig, folder: string): Promise<OpenedModel[]> {
  const { models, prices = {}, budget } = config
  const names = models.map(nameOf)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined)
    throw new AgogeError(`two models are called "${twice}"`, {
      code: 'duplicate-model',
      given: twice,
      expected: 'models with different names',
    })
  const local = (at: number): boolean => isRun(models[at])
  const unpriced = names.filter((name, at) => !local(at) && prices[name] === undefined)
  if (budget?.dollars !== undefined && unpriced.length > 0)
    throw new AgogeError('a budget in dollars needs the price of each model', {
      code: 'bad-config',
      given: `no price for ${unpriced.join(', ')}`,
      expected: `prices: { '${unpriced[0]}': { input: 0.25, output: 2 } }, in dollars for a million tokens`,
      hint: "Prices are on the provider's page; or limit budget.tokens instead",
    })
  const opened: OpenedModel[] = []
  try {
    for (const [at, given] of models.entries()) {
      const name = names[at]
      const {
        model,
        local,
        dispose = () => Promise.resolve(),
      } = isRun(given)
        ? await openRun(given, folder)
        : {
            model: typeof given === 'string' ? await resolveModel(given, config, folder) : given,
            local: undefined,
          }
      opened.push({
        name,
        model,
        isLocal: isRun(given),
        price: isRun(given) ? { input: 0, output: 0 } : prices[name],
        ...defined({ local }),
        dispose,
      })
    }
    return opened
  } catch (error) {
    for (const { dispose } of opened) await dispose()
    throw error
  }
}

/**
 * Opens further models of a config, such as judges, beside those that are open already. The same model is opened once.
 *
 * @returns each model by its reference, and those that were opened here.
 * @throws AgogeError as `openModels` does.
 */
export async function openFurther(
  references: readonly ModelReference[],
  config: AgogeConfig,
  folder: string,
  models: readonly OpenedModel[],
): Promise<{ of: (reference: ModelReference) => OpenedModel; opened: OpenedModel[] }> {
  const isSame = (a: ModelReference, b: ModelReference): boolean =>
    a === b || (isRun(a) && isRun(b) && a.folder === b.folder)
  const further = references.filter(
    (one, at) =>
      !config.models.some((model) => isSame(model, one)) &&
      references.findIndex((other) => isSame(other, one)) === at,
  )
  const opened = await openModels({ ...config, models: further }, folder)
  const all = [...config.models, ...further]
  return {
    of: (reference) => [...models, ...opened][all.findIndex((one) => isSame(one, reference))],
    opened,
  }
}

export const isRun = (model: ModelReference): model is LocalRun =>
  typeof model === 'object' && 'kind' in model && model.kind === 'run'

function nameOf(model: ModelReference): string {
  if (typeof model === 'string') return model
  if (isRun(model)) return basename(model.folder)
  return `${model.provider}/${model.modelId}`
}

/**
 * Finds the model of a run or of a checkpoint.
 *
 * @param holds whether a folder has what is needed of the model. Default: its weights.
 * @returns its folder, undefined if there is none, and where it was looked for.
 */
export function findRun(
  named: string,
  root: string,
  holds: (folder: string) => boolean = hasWeights,
): { found: string | undefined; places: string[] } {
  const places = [resolve(root, named), resolve(root, '.agoge', 'runs', named)].map(modelFolder)
  return { found: places.find(holds), places }
}

async function openRun(
  { folder: named }: LocalRun,
  root: string,
): Promise<Pick<OpenedModel, 'model'> & Partial<OpenedModel>> {
  const { found, places } = findRun(named, root)
  if (found === undefined)
    throw new AgogeError(`there is no model in ${named}`, {
      code: 'unknown-model',
      given: places.join(', '),
      expected: 'the folder of a run or of a checkpoint, or the name of a run in .agoge/runs',
    })
  const { backend, tokenizer } = await loadModel(found)
  const format = await readChatFormat(found, tokenizer)
  const local = { backend, tokenizer, format, window: backend.config.max_position_embeddings }
  const model = createLanguageModel({ ...local, modelId: basename(named) })
  return { model, local, dispose: () => backend.dispose() }
}

async function resolveModel(name: string, config: AgogeConfig, folder: string): Promise<AnyLanguageModel> {
  const slash = name.indexOf('/')
  const [provider, id] = [name.slice(0, Math.max(0, slash)), name.slice(slash + 1)]
  const own = config.providers?.[provider]
  if (own !== undefined) return fromProvider(own, id)
  const gateway = slash > 0 ? await findGateway(folder) : undefined
  if (gateway !== undefined) return fromProvider(gateway, name)
  const known = Object.keys(config.providers ?? {})
  throw new AgogeError(`the model "${name}" cannot be found`, {
    code: 'unknown-model',
    given: `providers: ${known.length === 0 ? 'none' : known.join(', ')}; the package "ai" is not installed beside the config`,
    expected: 'PROVIDER/ID, with the provider under `providers` or the AI SDK installed',
    hint:
      slash > 0
        ? `npm i ai (and set AI_GATEWAY_API_KEY), or providers: { ${provider}: create…() }`
        : `for instance openai/${name}`,
  })
}

const fromProvider = (provider: Provider, id: string): AnyLanguageModel =>
  'languageModel' in provider ? provider.languageModel(id) : provider(id)

/** The gateway of the AI SDK that the user installed; undefined where there is none. */
async function findGateway(folder: string): Promise<Provider | undefined> {
  try {
    const path = createRequire(join(folder, 'agoge.config.ts')).resolve('ai')
    const { gateway } = (await import(pathToFileURL(path).href)) as { gateway?: Provider }
    return gateway
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}
