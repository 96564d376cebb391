// The Tinker protocol: requests to our server in JSON and protobuf, and answers of foreign servers.
import { readLogprobs, readReport } from '../../../src/llm/backend/tinker/loss-requests.ts'
import { readSamples } from '../../../src/llm/backend/tinker/sampling.ts'
import { createAnswerReader } from '../../../src/llm/backend/tinker/transport.ts'
import { smallConfig } from '../../../src/llm/model/config.ts'
import { fieldsOf, nameOf, refusalText, statusOf } from '../../../src/llm/serving/tinker/fields.ts'
import { parsePath, pathOf } from '../../../src/llm/serving/tinker/checkpoints.ts'
import { engineLoss, readLossRequest } from '../../../src/llm/serving/tinker/losses.ts'
import { readForwardBackwardRequest } from '../../../src/llm/serving/tinker/protobuf/messages.ts'
import { readAdamParams, readLoraConfig } from '../../../src/llm/serving/tinker/training.ts'
import { deepestJson, nestingOf } from '../../../src/untrusted/foreign-json.ts'
import { makeJson } from '../mutate-json.ts'
import { bytesOf, isRecord, jsonOf, Mismatch, mustEqual, textOf } from '../parser.ts'
import type { FuzzParser, Input } from '../parser.ts'
import { makeMessage } from './tinker-message.ts'

const tensor = (...data: number[]) => ({ data, dtype: 'float32', shape: [data.length] })
const datum = {
  model_input: { chunks: [{ type: 'encoded_text', tokens: [5, 6] }, { tokens: [7] }] },
  loss_fn_inputs: {
    target_tokens: { data: [6, 7, 8], dtype: 'int64' },
    logprobs: tensor(0, -1, -2),
    advantages: tensor(0, 1, -1),
  },
}

const requests = {
  examples: [
    {
      model_id: 'm',
      seq_id: 1,
      forward_backward_input: {
        data: [datum],
        loss_fn: 'ppo',
        loss_fn_config: { clip_low_threshold: 0.8, clip_high_threshold: 1.2 },
      },
      adam_params: {
        learning_rate: 1e-4,
        beta1: 0.9,
        beta2: 0.95,
        eps: 1e-8,
        weight_decay: 0,
        grad_clip_norm: 1,
      },
      lora_config: { rank: 4, seed: 1, train_attn: true },
      path: 'checkpoint-1',
    },
    {
      model_id: 'm',
      forward_backward_input: {
        data: [
          {
            ...datum,
            loss_fn_inputs: {
              target_tokens: [6, 7, 8],
              weights: [0, 1, 0.5],
              temperatures: tensor(1, 1, 0.5),
            },
          },
        ],
        loss_fn: 'cross_entropy',
        loss_fn_config: null,
      },
      adam_params: { optimizer: 'muon' },
      path: 'tinker://run/weights/a',
    },
    {
      forward_backward_input: { data: [datum, datum], loss_fn: 'dro', loss_fn_config: { beta: 0.1 } },
      adam_params: {},
      lora_config: { rank: 0 },
    },
  ].map((each) => JSON.stringify(each)),
  words: [
    ...'model_id seq_id forward_backward_input data loss_fn loss_fn_config model_input chunks tokens loss_fn_inputs dtype shape'.split(
      ' ',
    ),
    ...'target_tokens logprobs advantages weights ce_weights kl_weights temperatures ppo cispo dro importance_sampling beta'.split(
      ' ',
    ),
    ...'cross_entropy adam_params learning_rate beta1 eps grad_clip_norm optimizer lora_config rank sparse_crow_indices image'.split(
      ' ',
    ),
  ],
}

/** Servers and clients read no deeper JSON. */
const foreignJson = (input: Input): { value: unknown } | undefined =>
  nestingOf(textOf(input)) > deepestJson ? undefined : jsonOf(input)

/** A status of 500 says that the fault is ours. */
const isRefusal = (error: unknown): boolean => statusOf(error) < 500 && refusalText(error) !== ''

const request: FuzzParser = {
  name: 'Tinker requests',
  share: 2,
  make: (random) => makeJson(random, requests),
  parse(input, reach) {
    const read = foreignJson(input)
    if (read === undefined) return
    reach(1)
    const body = fieldsOf(read.value, 'body')
    reach(2)
    const tasks = [
      () => readLoraConfig(body, smallConfig),
      () => readAdamParams(body),
      () => {
        const name = nameOf(body, 'path')
        if (name !== undefined && (name.includes('/') || /^\.+$/.test(name)))
          throw new Mismatch('a name that leads elsewhere')
      },
      () => {
        if (typeof body['path'] !== 'string') return
        const place = parsePath(body['path'])
        mustEqual(parsePath(pathOf(place)), place, 'a path written and read')
      },
      () => checkLoss(body['forward_backward_input'], reach),
    ]
    for (const task of tasks)
      try {
        task()
      } catch (error) {
        if (!isRefusal(error)) throw error
      }
  },
}

/** Validates a loss and computes it as on the server, for made-up log-probabilities. */
function checkLoss(given: unknown, reach: (stage: 3) => void): void {
  const { lossFn, config, sequences } = readLossRequest(fieldsOf(given, 'forward_backward_input'))
  reach(3)
  for (const { tokens, weights, logprobs } of sequences)
    if (weights.rl.length !== tokens.length || logprobs.length !== tokens.length)
      throw new Mismatch('arrays of other lengths')
  engineLoss(lossFn, config).value(
    sequences.map(({ tokens }) => new Float32Array(tokens.length).fill(-1)),
    sequences,
  )
}

const protobuf: FuzzParser = {
  name: 'Tinker requests in protobuf',
  make: makeMessage,
  parse(input, reach) {
    const { body } = readForwardBackwardRequest(bytesOf(input))
    reach(2)
    try {
      checkLoss(body['forward_backward_input'], reach)
    } catch (error) {
      if (!isRefusal(error)) throw error
    }
  },
}

const answers = {
  examples: [
    {
      sequences: [
        { stop_reason: 'stop', tokens: [1, 2], logprobs: [-1, -2] },
        { stop_reason: 'length', tokens: [], logprobs: [] },
      ],
    },
    {
      loss_fn_output_type: 'ArrayRecord',
      loss_fn_outputs: [{ logprobs: tensor(-1, -2) }],
      metrics: { 'loss:sum': 1, 'tokens:sum': 2 },
    },
    { loss_fn_outputs: [{ logprobs: tensor(-1, -2), elementwise_loss: tensor(1, 2) }], metrics: {} },
    { request_id: 'r', type: 'try_again', queue_state: 'active' },
  ].map((each) => JSON.stringify(each)),
  words: [
    'sequences',
    'tokens',
    'logprobs',
    'stop_reason',
    'loss_fn_outputs',
    'metrics',
    'data',
    'loss:sum',
    'tokens:sum',
    'elementwise_loss',
    'request_id',
  ],
}

const sequence = {
  tokens: Int32Array.of(1, 2, 3),
  logprobs: new Float32Array(3),
  advantages: Float32Array.of(0, 1, 1),
  weights: { rl: Float32Array.of(0, 1, 1), ce: new Float32Array(3), kl: new Float32Array(3) },
}

const answer: FuzzParser = {
  name: 'answers of a Tinker server',
  make: (random) => makeJson(random, answers),
  parse(input, reach) {
    const read = foreignJson(input)
    if (read === undefined) return
    reach(1)
    const fields = createAnswerReader('host', 'path').fields(read.value, 'answer')
    if (isRecord(read.value)) reach(2)
    const readers = [
      () => void readSamples('host', fields, 2, 0),
      () => void readLogprobs('host', fields, [sequence]),
      () => void readReport('host', fields, [sequence], { name: 'ppo' }),
      () => void createAnswerReader('host', 'path').text(fields, 'request_id'),
    ]
    for (const [i, each] of readers.entries())
      try {
        each()
        if (i < 3) reach(3)
      } catch (error) {
        if (!isRefusal(error)) throw error
      }
  },
}

export const tinkerParsers: readonly FuzzParser[] = [request, protobuf, answer]
