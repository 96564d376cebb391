import { add, compile, concat, constant, gather, reshape } from '../../engine/tensor/index.ts'
import type { Program, Tensor } from '../../engine/tensor/index.ts'
import { blockWeightNames } from './block.ts'
import type { TransformerConfig } from './config.ts'
import { denseGradients } from './folded-weights.ts'
import { linear, normalise } from './layers.ts'
import { programOptions, rowShape, sequenceInputs, trunk } from './programs.ts'
import type { InputSpecs, ProgramKind } from './programs.ts'

type ScalarKind = Pick<ProgramKind, 'blocks' | 'threads'>

function scalarInputs(config: TransformerConfig, kind: ScalarKind): InputSpecs {
  const { head: _, ...inputs } = sequenceInputs(config, kind)
  return { ...inputs, score: { shape: [1, config.hidden_size] } }
}

/** One number per row: the normalised hidden state times `score` [1, width], with the norm's gain folded into `score`. */
function scalars(inputs: Record<string, Tensor>, config: TransformerConfig, kind: ScalarKind) {
  const body = trunk(inputs, config, kind)
  const normal = normalise(gather(body.y, inputs['rows'], 0), config.rms_norm_eps)
  const head = linear(normal.y, inputs['score'])
  return {
    values: reshape(head.y, ['N']),
    pullback(gradients: Tensor) {
      const { x, weight } = head.pullback(reshape(gradients, ['N', 1]))
      return { hidden: normal.pullback(x), score: weight, blocks: body.blocks }
    },
  }
}

/** tokens [B, T], rows [N] (flat positions b * T + t), score [1, width] -> values [N]. */
export function compileValues(config: TransformerConfig, kind: ScalarKind = {}): Promise<Program> {
  return compile(
    scalarInputs(config, kind),
    (inputs) => ({ values: scalars(inputs, config, kind).values }),
    programOptions('values', kind),
  )
}

/**
 * Like `compileValues`, with the pullback of `gradients` [N], d loss / d value. Outputs: `gradient.NAME` of every
 * folded weight of the blocks, added to `sum.NAME`; `score` [1, width]; `inputRows` [B*T, width], to add to the
 * embedding rows of `tokens`. `inverse` is as for `compileTraining`.
 */
export function compileValueTraining(config: TransformerConfig, kind: ScalarKind = {}): Promise<Program> {
  const specs: InputSpecs = {
    ...scalarInputs(config, kind),
    gradients: { shape: ['N'] },
    inverse: { shape: [rowShape(kind).tokens], dtype: 'int32' },
    ...Object.fromEntries(
      denseGradients(config)
        .filter(({ name }) => name !== 'head')
        .map(({ name, shape }) => [`sum.${name}`, { shape: [...shape] }]),
    ),
  }
  return compile(
    specs,
    (inputs) => {
      const head = scalars(inputs, config, kind)
      const { hidden, score, blocks } = head.pullback(inputs['gradients'])
      const zeros = constant(new Float32Array(config.hidden_size), [1, config.hidden_size])
      let gx = gather(concat([hidden, zeros], 0), inputs['inverse'], 0)
      const outputs: Record<string, Tensor> = { values: head.values, scoreGradient: score }
      for (let layer = config.num_hidden_layers - 1; layer >= 0; layer--) {
        const g = blocks[layer].pullback(gx)
        for (const key of blockWeightNames(config))
          outputs[`gradient.${layer}.${key}`] = add(g.weights[key]!, inputs[`sum.${layer}.${key}`])
        gx = g.x
      }
      return { ...outputs, inputRows: gx }
    },
    programOptions('train-values', kind),
  )
}
