import { AgogeError } from '../../error.ts'

/**
 * How rotary angles are stretched for sequences longer than those first trained on, in the names of Hugging Face's `rope_scaling`.
 * `linear`: Chen et al. 2023 (arXiv:2306.15595); `llama3`: Llama 3.1 (arXiv:2407.21783); `yarn`: Peng et al. 2023 (arXiv:2309.00071).
 */
export type RotaryScaling =
  | { rope_type: 'linear'; factor: number }
  | {
      rope_type: 'llama3'
      factor: number
      low_freq_factor: number
      high_freq_factor: number
      original_max_position_embeddings: number
    }
  | {
      rope_type: 'yarn'
      factor: number
      original_max_position_embeddings: number
      beta_fast: number
      beta_slow: number
      attention_factor: number
      truncate: boolean
    }

/** Angles a position, one for each pair of a head's values, and what both cosines and sines are multiplied by. */
export interface RotaryFrequencies {
  frequencies: Float32Array
  amplitude: number
}

/** Reads `rope_scaling`, or `rope_parameters` of newer releases; undefined where angles are not stretched. */
export function parseRotaryScaling(value: unknown, file: string): RotaryScaling | undefined {
  if (value === undefined || value === null) return undefined
  const wrong = (field: string, given: unknown, expected: string): AgogeError =>
    new AgogeError(`${file}: ${field} cannot be used`, { code: 'bad-model-config', given, expected })
  if (typeof value !== 'object') throw wrong('rope_scaling', value, 'an object or null')
  const given = value as Record<string, unknown>
  const type = given['rope_type'] ?? given['type'] ?? 'default'
  if ((given['partial_rotary_factor'] ?? 1) !== 1)
    throw wrong('partial_rotary_factor', given['partial_rotary_factor'], '1')
  const number = (field: string, fallback?: number): number => {
    const found = given[field] ?? fallback
    if (typeof found !== 'number' || !(found > 0))
      throw wrong(`rope_scaling.${field}`, found, 'a positive number')
    return found
  }
  if (type === 'default') return undefined
  if (type === 'linear') return { rope_type: 'linear', factor: number('factor') }
  if (type === 'llama3')
    return {
      rope_type: 'llama3',
      factor: number('factor'),
      low_freq_factor: number('low_freq_factor'),
      high_freq_factor: number('high_freq_factor'),
      original_max_position_embeddings: number('original_max_position_embeddings'),
    }
  if (type === 'yarn') {
    const factor = number('factor')
    return {
      rope_type: 'yarn',
      factor,
      original_max_position_embeddings: number('original_max_position_embeddings'),
      beta_fast: number('beta_fast', 32),
      beta_slow: number('beta_slow', 1),
      attention_factor: number('attention_factor', factor <= 1 ? 1 : 0.1 * Math.log(factor) + 1),
      truncate: given['truncate'] !== false,
    }
  }
  throw wrong('rope_scaling.rope_type', type, 'default, linear, llama3 or yarn')
}

/** For heads of `width` values. In single precision, like the reference, whose angles at distant positions are rounded alike. */
export function rotaryFrequencies(
  theta: number,
  width: number,
  scaling: RotaryScaling | undefined,
): RotaryFrequencies {
  const half = width / 2
  const plain = Float32Array.from({ length: half }, (_, i) => 1 / Math.fround(theta ** (i / half)))
  if (scaling === undefined) return { frequencies: plain, amplitude: 1 }
  const { factor } = scaling
  if (scaling.rope_type === 'linear') return { frequencies: plain.map((f) => f / factor), amplitude: 1 }
  if (scaling.rope_type === 'llama3') {
    const { low_freq_factor: low, high_freq_factor: high, original_max_position_embeddings: window } = scaling
    const frequencies = plain.map((frequency) => {
      const wavelength = (2 * Math.PI) / frequency
      if (wavelength < window / high) return frequency
      if (wavelength > window / low) return frequency / factor
      const smooth = (window / wavelength - low) / (high - low)
      return ((1 - smooth) * frequency) / factor + smooth * frequency
    })
    return { frequencies, amplitude: 1 }
  }
  const place = (rotations: number): number =>
    (width * Math.log(scaling.original_max_position_embeddings / (rotations * 2 * Math.PI))) /
    (2 * Math.log(theta))
  const [first, last] = [place(scaling.beta_fast), place(scaling.beta_slow)]
  const low = Math.max(scaling.truncate ? Math.floor(first) : first, 0)
  const end = Math.min(scaling.truncate ? Math.ceil(last) : last, width - 1)
  const high = end === low ? end + 0.001 : end
  const frequencies = plain.map((frequency, i) => {
    const stretched = Math.min(1, Math.max(0, (i - low) / (high - low)))
    return (frequency / factor) * stretched + frequency * (1 - stretched)
  })
  return { frequencies, amplitude: scaling.attention_factor }
}
