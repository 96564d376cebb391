import { createHash } from 'node:crypto'
import { defined } from '../../defined.ts'
import { createRandom } from '../../engine/random/index.ts'
import { add, compile, matmul, mul } from '../../engine/tensor/index.ts'
import type { HostTensor, Program } from '../../engine/tensor/index.ts'
import { AgogeError } from '../../error.ts'
import type { TransformerConfig } from '../model/config.ts'
import type { LowRank } from '../model/low-rank.ts'
import type { ParameterEntry, ParameterLayout, Parameters } from '../model/parameters.ts'

/** Options of low-rank adaptation of matrices (Hu et al. 2021, arXiv:2106.09685), with PEFT's names. */
export interface LoraOptions {
  /** Rank: columns of B and rows of A; at least 1. */
  rank: number
  /**
   * The product B A is multiplied by alpha / rank. Default: 32, for which one learning rate fits many ranks (Schulman
   * 2025).
   */
  alpha?: number
  /**
   * Modules by PEFT's names. Default: all matrices of the blocks (`q_proj`, `k_proj`, `v_proj`, `o_proj`, `gate_proj`,
   * `up_proj`, `down_proj`). `lm_head` is also possible if it is not tied.
   */
  targets?: readonly string[]
  /** Indices of blocks, from 0. Default: all. */
  layers?: readonly number[]
  /** Multiplies by alpha / sqrt(rank) instead (rank-stabilised LoRA, Kalajdzievski 2023, arXiv:2312.03732). */
  rankStabilised?: boolean
  /** Seed of A. Default: 0. */
  seed?: number
}

/** Options with defaults filled in. */
export interface LoraSettings {
  rank: number
  alpha: number
  rankStabilised: boolean
  /** Names of adapted modules, such as `model.layers.0.self_attn.q_proj`, in the order of their weights. */
  modules: readonly string[]
}

/** A LoRA adapter. Effective weights are the base weights plus scale * B A, module by module. */
export interface Adapter extends Parameters {
  settings: LoraSettings
  /** `MODULE.lora_A.weight` [rank, in] and `MODULE.lora_B.weight` [out, rank] of every module. */
  layout: ParameterLayout
  data: Float32Array
  /** The frozen base weights, one module after another. */
  base: Float32Array
}

/** Offsets of an adapted matrix and its factors. */
interface AdaptedModule {
  /** Offset in the weights. */
  weight: ParameterEntry
  a: ParameterEntry
  b: ParameterEntry
  /** Offset of its frozen weights in `Adapter.base`. */
  base: number
}

const blockTargets = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'] as const

const lastPart = (module: string): string => module.slice(module.lastIndexOf('.') + 1)

/** Checks the options against a model. Throws `AgogeError` (`bad-lora`) naming the invalid option. */
export function loraSettings(
  options: LoraOptions,
  layout: ParameterLayout,
  config: TransformerConfig,
): LoraSettings {
  const { rank, alpha = 32, targets = blockTargets, layers, rankStabilised = false } = options
  const refuse = (option: string, given: unknown, expected: string): AgogeError =>
    new AgogeError(`lora: ${option} does not fit`, { code: 'bad-lora', given, expected })
  if (!Number.isSafeInteger(rank) || rank < 1) throw refuse('rank', rank, 'a whole number of at least 1')
  if (!(alpha > 0 && Number.isFinite(alpha))) throw refuse('alpha', alpha, 'a number above 0')
  const known = [...blockTargets, ...(config.tie_word_embeddings ? [] : ['lm_head'])]
  const unknown = targets.find((target) => !known.includes(target))
  if (unknown !== undefined || targets.length === 0)
    throw refuse('targets', unknown ?? targets, `some of ${known.join(', ')}`)
  const count = config.num_hidden_layers
  const outside = layers?.find((layer) => !Number.isSafeInteger(layer) || layer < 0 || layer >= count)
  if (outside !== undefined || layers?.length === 0)
    throw refuse('layers', outside ?? layers, `some of 0 to ${count - 1}`)
  const modules = layout.entries
    .filter(({ name }) => name.endsWith('.weight'))
    .map(({ name }) => name.slice(0, -'.weight'.length))
    .filter((module) => {
      const layer = /^model\.layers\.(\d+)\./.exec(module)?.[1]
      const within = layers === undefined || layer === undefined || layers.includes(Number(layer))
      return within && targets.includes(lastPart(module))
    })
  return { rank, alpha, rankStabilised, modules }
}

/** The factor of B A. */
function loraScale({ alpha, rank, rankStabilised }: LoraSettings): number {
  return alpha / (rankStabilised ? Math.sqrt(rank) : rank)
}

/** The tensors of an adapter in memory order. */
function adapterLayout(settings: LoraSettings, layout: ParameterLayout): ParameterLayout {
  const entries: ParameterEntry[] = []
  let offset = 0
  const add = (name: string, shape: readonly [number, number]): void => {
    const size = shape[0] * shape[1]
    entries.push({ name, shape, offset, size, kind: 'matrix' })
    offset += size
  }
  for (const module of settings.modules) {
    const [rows, columns] = weightOf(module, layout).shape
    add(`${module}.lora_A.weight`, [settings.rank, columns])
    add(`${module}.lora_B.weight`, [rows, settings.rank])
  }
  return { entries, views: [], size: offset }
}

/** The modules of an adapter with their offsets. */
function adaptedModules({ settings, layout }: Adapter, whole: ParameterLayout): AdaptedModule[] {
  let base = 0
  return settings.modules.map((module, i) => {
    const weight = weightOf(module, whole)
    const made = { weight, a: layout.entries[2 * i], b: layout.entries[2 * i + 1], base }
    base += weight.size
    return made
  })
}

/**
 * A new adapter that changes nothing yet, as in PEFT: A uniform within 1 / sqrt(inputs), B zero. Copies the base
 * weights.
 */
export function createAdapter(parameters: Parameters, settings: LoraSettings, seed = 0): Adapter {
  const layout = adapterLayout(settings, parameters.layout)
  const data = new Float32Array(layout.size)
  const sizes = settings.modules.map((module) => weightOf(module, parameters.layout).size)
  const base = new Float32Array(sizes.reduce((sum, size) => sum + size, 0))
  const adapter = { settings, layout, data, base }
  for (const { weight, a, base: at } of adaptedModules(adapter, parameters.layout)) {
    base.set(parameters.data.subarray(weight.offset, weight.offset + weight.size), at)
    const random = createRandom(seed, 'lora', a.name)
    const bound = 1 / Math.sqrt(a.shape[1])
    for (let i = a.offset; i < a.offset + a.size; i++) data[i] = bound * (2 * random.next() - 1)
  }
  return adapter
}

function weightOf(module: string, { entries }: ParameterLayout): ParameterEntry {
  const found = entries.find(({ name }) => name === `${module}.weight`)
  if (found?.shape.length === 2 && found.name !== 'model.embed_tokens.weight') return found
  throw new AgogeError(`the adapter's module ${module} is not a matrix of this model`, {
    code: 'bad-lora',
    given: module,
    expected: 'modules that the model has, as model.layers.0.self_attn.q_proj',
    hint: 'load the adapter onto the model that it was trained on',
  })
}

/** Names of adapted modules in programs. */
const programParts: Record<string, string> = {
  q_proj: 'q',
  k_proj: 'k',
  v_proj: 'v',
  o_proj: 'out',
  gate_proj: 'gate',
  up_proj: 'up',
  down_proj: 'down',
}

/** The adapter as programs take it, with the same live data. */
export function lowRankOf(adapter: Adapter, whole: ParameterLayout): LowRank {
  const { settings, data } = adapter
  const matrices = adaptedModules(adapter, whole).map(({ weight, a, b }, i) => {
    const module = settings.modules[i]
    const layer = /^model\.layers\.(\d+)\./.exec(module)?.[1]
    const name = layer === undefined ? 'head' : `${layer}.${programParts[lastPart(module)]}`
    return { name, rows: weight.shape[0], columns: weight.shape[1], a: a.offset, b: b.offset }
  })
  return { rank: settings.rank, scale: loraScale(settings), matrices, data }
}

/** Links an adapter to the live weights, which programs use. */
interface LoraPrograms {
  /** Writes base + scale * B A into the weights. */
  merge(): Promise<void>
  /** Adjusts the base to weights written from outside: the base becomes the weights minus scale * B A. */
  rebase(): Promise<void>
  release(): Promise<void>
}

/** One program, compiled at first use, serves matrices of all shapes. */
export function createLoraPrograms(adapter: Adapter, parameters: Parameters, threads?: number): LoraPrograms {
  const modules = adaptedModules(adapter, parameters.layout)
  const scale = loraScale(adapter.settings)
  const part = (array: Float32Array, { shape, offset, size }: ParameterEntry): HostTensor => ({
    data: array.subarray(offset, offset + size),
    shape,
  })
  let made: Promise<Program> | undefined
  const compiled = (): Promise<Program> =>
    compile(
      {
        from: { shape: ['O', 'I'] },
        a: { shape: ['R', 'I'] },
        b: { shape: ['O', 'R'] },
        scale: { shape: [1] },
      },
      (inputs) => ({
        result: add(inputs['from'], mul(matmul(inputs['b'], inputs['a']), inputs['scale'])),
      }),
      { name: 'lora-merge', ...defined({ threads }) },
    )

  /** result = from + factor * B A for every module. */
  async function addProducts(factor: number, from: 'base' | 'weights'): Promise<void> {
    const run = await (made ??= compiled())
    for (const { weight, a, b, base } of modules) {
      const places = {
        weights: part(parameters.data, weight),
        base: { data: adapter.base.subarray(base, base + weight.size), shape: weight.shape },
      }
      await run.run(
        {
          from: places[from],
          a: part(adapter.data, a),
          b: part(adapter.data, b),
          scale: { data: Float32Array.of(factor), shape: [1] },
        },
        { result: from === 'base' ? places.weights : places.base },
      )
    }
  }

  return {
    merge: () => addProducts(scale, 'base'),
    rebase: () => addProducts(-scale, 'weights'),
    async release() {
      const program = await made
      made = undefined
      await program?.release()
    },
  }
}

/**
 * SHA-256 of a model's weights as 64 hexadecimal digits: names, shapes and float32 values in the order of the layout.
 * With `adapter`, hashes the base weights. A model and its copy in another file format have the same hash if their
 * values are equal.
 *
 * @param parameters the weights; with `adapter`, the effective weights that include it.
 */
export function hashWeights(parameters: Parameters, adapter?: Adapter): string {
  const { layout, data } = parameters
  const frozen = new Map(
    adapter === undefined
      ? []
      : adaptedModules(adapter, layout).map(({ weight, base }) => [weight.name, base] as const),
  )
  const hash = createHash('sha256')
  for (const { name, shape, offset, size } of layout.entries) {
    const at = frozen.get(name)
    const values =
      at === undefined || adapter === undefined
        ? data.subarray(offset, offset + size)
        : adapter.base.subarray(at, at + size)
    hash.update(`${name}[${shape.join()}]`)
    hash.update(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
  }
  return hash.digest('hex')
}
