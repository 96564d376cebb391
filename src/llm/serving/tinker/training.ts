import { forwardBackward } from '../../backend/custom-loss.ts'
import { scoreSequences } from '../../backend/loss-report.ts'
import type { LocalBackend } from '../../backend/local-backend.ts'
import type { OptimStep } from '../../model-backend.ts'
import { reportMetrics } from '../../backend/tinker/index.ts'
import type { ForwardBackwardOutput } from '../../backend/tinker/index.ts'
import type { LossRequest } from './datums.ts'
import { countOf, fieldsOf, numberOf, textOf } from './fields.ts'
import type { Fields } from './fields.ts'
import { refuse } from './refusal.ts'

function outputOf(
  logprobs: readonly Float32Array[] | undefined,
  metrics: Record<string, number>,
): ForwardBackwardOutput {
  const outputs = logprobs?.map((values) => ({
    logprobs: { data: values.subarray(1), dtype: 'float32' as const, shape: [values.length - 1] },
  }))
  return { loss_fn_output_type: 'ArrayRecord', loss_fn_outputs: outputs ?? [], metrics }
}

/** A pass without gradient: log-probabilities of the targets, and the loss. */
export async function runForward(
  backend: LocalBackend,
  request: LossRequest,
): Promise<ForwardBackwardOutput> {
  const { value } = request.engine
  const logprobs = await scoreSequences(backend, request.sequences)
  return outputOf(logprobs, { 'loss:sum': value(logprobs, request.sequences) })
}

/** A pass with gradient. The log-probabilities that the protocol wants with it cost a second forward pass. */
export async function runForwardBackward(
  backend: LocalBackend,
  request: LossRequest,
  wantsLogprobs: boolean,
): Promise<ForwardBackwardOutput> {
  const { loss } = request.engine
  let logprobs: Float32Array[] | undefined
  if (wantsLogprobs) logprobs = await scoreSequences(backend, request.sequences)
  const known = logprobs
  const learner: Pick<LocalBackend, 'forward' | 'forwardBackward'> = {
    // A loss that the engine has not in one pass begins with the same forward pass.
    forward: async (tokens, options) => known ?? backend.forward(tokens, options),
    forwardBackward: (rows, settings) => backend.forwardBackward(rows, settings),
  }
  const report = await forwardBackward(learner, request.sequences, loss)
  return outputOf(logprobs, reportMetrics(report))
}

/** `adam_params`, checked, with the values that the protocol has unless told. */
export function readAdamParams(body: Fields): OptimStep {
  const params = fieldsOf(body['adam_params'], 'adam_params')
  const clip = numberOf(params, 'grad_clip_norm', 0, 0)
  const optimizer = params['optimizer'] == null ? 'adamw' : textOf(params, 'optimizer')
  if (optimizer !== 'adamw' && optimizer !== 'muon')
    throw refuse('tinker-bad-request', 'There is no such optimiser', {
      given: optimizer,
      expected: 'adamw or muon',
    })
  return {
    learningRate: numberOf(params, 'learning_rate', 1e-4, 0),
    beta1: below1(params, 'beta1', 0.9),
    beta2: below1(params, 'beta2', 0.95),
    epsilon: numberOf(params, 'eps', 1e-12, 0),
    weightDecay: numberOf(params, 'weight_decay', 0, 0),
    optimizer,
    ...(clip === 0 ? {} : { clip }),
  }
}

function below1(params: Fields, name: string, otherwise: number): number {
  const value = numberOf(params, name, otherwise, 0)
  if (value < 1) return value
  throw refuse('tinker-bad-request', `The field ${name} is wrong`, {
    given: value,
    expected: 'a number below 1',
  })
}

/** `lora_config`: of rank 0, or none at all, all weights are trained. */
export function readLoraConfig(body: Fields) {
  if (body['lora_config'] === undefined || body['lora_config'] === null) return undefined
  const config = fieldsOf(body['lora_config'], 'lora_config')
  const rank = countOf(config, 'rank', undefined)
  if (rank === 0) return undefined
  const flag = (name: string): boolean => config[name] !== false
  return {
    rank,
    seed: countOf(config, 'seed', 0),
    trainAttention: flag('train_attn'),
    trainMlp: flag('train_mlp'),
    trainUnembedding: flag('train_unembed'),
  }
}
