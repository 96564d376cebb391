import { AgogeError } from '../../error.ts'
import type { TransformerConfig } from '../model/config.ts'
import type { ParameterEntry, ParameterLayout, Parameters } from '../model/parameters.ts'
import { createAdapter, createLoraPrograms, loraSettings } from './lora.ts'
import type { Adapter, LoraOptions } from './lora.ts'

/** Which weights to train. */
export type Trainable =
  | { lora: LoraOptions }
  /** Tensors by their names in the checkpoint; `*` stands for any characters, as in `model.layers.3.*`. */
  | { tensors: readonly string[] }

/** The parameters that the optimiser updates, and their relation to the model's weights. */
export interface Trained {
  /** Names of the trained tensors; undefined if all weights or an adapter are trained. */
  readonly tensors: readonly string[] | undefined
  readonly adapter: Adapter | undefined
  /** The parameters that the optimiser updates. */
  readonly moved: Parameters
  /** The gradient of `moved` from the learner's, which is of all weights, or of the adapter if there is one. */
  gradientOf(learned: Float32Array): Float32Array
  /** Writes the effect of `moved` into the live weights. */
  write(): Promise<void>
  /** Adopts live weights written from outside. An adapter is kept, and its base weights are adjusted. */
  read(): Promise<void>
  /** Adopts live weights loaded from a checkpoint, with its adapter. Without one, a new adapter starts. */
  restart(adapter?: Adapter): void
  dispose(): Promise<void>
}

/** Trains all weights. */
export function wholeModel(parameters: Parameters): Trained {
  return {
    tensors: undefined,
    adapter: undefined,
    moved: parameters,
    gradientOf: (learned) => learned,
    async write() {},
    async read() {},
    restart() {},
    async dispose() {},
  }
}

/** Trains only some tensors, copied to an array of their own, for which the optimiser keeps its averages. */
export function someTensors(parameters: Parameters, patterns: readonly string[]): Trained {
  const chosen = chosenTensors(parameters.layout, patterns)
  const layout = compactLayout(chosen)
  const gather = (whole: Float32Array, into: Float32Array): Float32Array => {
    layout.entries.forEach(({ offset, size }, i) =>
      into.set(whole.subarray(chosen[i].offset, chosen[i].offset + size), offset),
    )
    return into
  }
  const moved = { layout, data: gather(parameters.data, new Float32Array(layout.size)) }
  const gradient = new Float32Array(layout.size)
  return {
    tensors: chosen.map(({ name }) => name),
    adapter: undefined,
    moved,
    gradientOf: (learned) => gather(learned, gradient),
    async write() {
      layout.entries.forEach(({ offset, size }, i) =>
        parameters.data.set(moved.data.subarray(offset, offset + size), chosen[i].offset),
      )
    },
    async read() {
      gather(parameters.data, moved.data)
    },
    restart() {
      gather(parameters.data, moved.data)
    },
    async dispose() {},
  }
}

/** Trains only A and B of an adapter, which the live weights already include. */
export function lowRank(parameters: Parameters, adapter: Adapter, threads?: number, seed = 0): Trained {
  const programs = createLoraPrograms(adapter, parameters, threads)
  return {
    tensors: undefined,
    adapter,
    moved: adapter,
    gradientOf: (learned) => learned,
    write: () => programs.merge(),
    read: () => programs.rebase(),
    restart(given = createAdapter(parameters, adapter.settings, seed)) {
      adapter.data.set(given.data)
      adapter.base.set(given.base)
    },
    dispose: () => programs.release(),
  }
}

/** Combines options and checkpoint. */
export function createTrained(options: {
  config: TransformerConfig
  parameters: Parameters
  trainable?: Trainable | undefined
  adapter?: Adapter | undefined
  threads?: number
}): Trained {
  const { config, parameters, trainable, adapter, threads } = options
  if (adapter !== undefined) {
    if (trainable !== undefined)
      throw new AgogeError('an existing adapter keeps its own settings', {
        code: 'bad-lora',
        given: JSON.stringify(trainable),
        expected: 'an adapter, or `trainable`, not both',
        hint: 'to begin anew on top of it, export the merged model and load that',
      })
    return lowRank(parameters, adapter, threads)
  }
  if (trainable === undefined) return wholeModel(parameters)
  if ('tensors' in trainable) return someTensors(parameters, trainable.tensors)
  const settings = loraSettings(trainable.lora, parameters.layout, config)
  const { seed } = trainable.lora
  return lowRank(parameters, createAdapter(parameters, settings, seed), threads, seed)
}

/** Throws `AgogeError` (`bad-checkpoint`) if a checkpoint belongs to a training of other weights. */
export function checkSameTraining(
  folder: string,
  loaded: { tensors?: readonly string[]; adapter?: Adapter; optimizer?: unknown },
  { tensors, adapter }: Trained,
): void {
  // Published weights, which have no training state.
  if (loaded.optimizer === undefined && loaded.adapter === undefined) return
  const facts = (tensorNames: readonly string[] | undefined, of: Adapter | undefined): string =>
    JSON.stringify(of?.settings ?? tensorNames ?? 'all weights')
  const [given, expected] = [facts(loaded.tensors, loaded.adapter), facts(tensors, adapter)]
  if (given === expected) return
  throw new AgogeError(`${folder} belongs to a training of other weights`, {
    code: 'bad-checkpoint',
    given,
    expected,
    hint: 'open it with loadLocalBackend, which resumes what it finds, or load what `export` wrote',
  })
}

/** The tensors that match the patterns. Throws `AgogeError` (`bad-trainable`) for a pattern without a match. */
export function chosenTensors(layout: ParameterLayout, patterns: readonly string[]): ParameterEntry[] {
  const expressions = patterns.map(
    (pattern) => new RegExp(`^${pattern.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`),
  )
  const idle = patterns.find((_, i) => !layout.entries.some(({ name }) => expressions[i].test(name)))
  if (idle !== undefined || patterns.length === 0)
    throw new AgogeError('trainable: no tensor has that name', {
      code: 'bad-trainable',
      given: idle ?? patterns,
      expected: `names or patterns of tensors, as ${layout.entries[1].name} or model.layers.0.*`,
      hint: 'parameters.layout.entries lists the names; tied output matrices are model.embed_tokens.weight',
    })
  return layout.entries.filter(({ name }) => expressions.some((expression) => expression.test(name)))
}

/** The entries laid out one after another. */
export function compactLayout(chosen: readonly ParameterEntry[]): ParameterLayout {
  let size = 0
  const entries = chosen.map((entry) => {
    const offset = size
    size += entry.size
    return { ...entry, offset }
  })
  return { entries, views: [], size }
}
