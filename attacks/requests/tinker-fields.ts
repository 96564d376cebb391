// Wrong types for the fields of the Tinker protocol.
import { type Field, fieldsOf, flags, longText } from './field-kinds.ts'
import type { Expected } from './judge.ts'
import { type Attempt, type Kind, type KindContext, post } from './kinds.ts'
import { datum, type TinkerPlace } from './targets.ts'

export const api = (call: string): string => `/api/v1/${call}`

export const calling = (what: string, expected: Expected, call: string, body: unknown): Attempt => ({
  what,
  expected,
  asked: post(api(call), body),
})

export const getting = (path: string, expected: Expected, method = 'GET'): Attempt => ({
  what: `${method} ${path}`,
  expected,
  asked: { method, path: api(path) },
})

export function placeOf({ target }: Pick<KindContext, 'target'>): TinkerPlace {
  if (target.tinker === undefined) throw new Error(`${target.name} is no Tinker server`)
  return target.tinker
}

const optionalFlag = ['null', ...flags]
const unknown = [400, 404]
const finite = ['0', '1.5', '1e308', '123456789012345678901234567890']
const session: Field = { at: 'session_id', status: unknown, names: /session/ }
const model: Field = { at: 'model_id', status: unknown, names: /model/ }
const base: Field = { at: 'base_model', status: unknown, names: /base.model/ }
/** The number 0 may have been used by another request. */
const number: Field = { at: 'seq_id', legal: ['null'], either: ['0'], status: [400, 409] }
const checkpointName = { legal: ['null'], either: ['"x"', '"-1"'], status: [400, 409], names: /path/ }

const input = (data: unknown = [datum([9, 10, 11, 12])]): Readonly<Record<string, unknown>> => ({
  data,
  loss_fn: 'cross_entropy',
})

const inputFields = (at: string): Field[] =>
  [
    { at: '', names: /forward_(backward_)?input|loss_fn/ },
    { at: '.data', names: /data|datum/i },
    { at: '.loss_fn', names: /loss/ },
    { at: '.loss_fn_config', legal: ['null', '{}'], names: /loss_fn_config|setting/ },
    { at: '.data.0', names: /datum/i },
    { at: '.data.0.model_input', names: /model_input|chunks/ },
    { at: '.data.0.model_input.chunks', names: /chunk|token/ },
    { at: '.data.0.model_input.chunks.0', names: /chunk|nothing but text/ },
    { at: '.data.0.model_input.chunks.0.tokens', names: /token|nothing but text/ },
    { at: '.data.0.loss_fn_inputs', names: /loss_fn_inputs|target_tokens|no use for a/ },
    { at: '.data.0.loss_fn_inputs.target_tokens', names: /target_tokens|data/ },
    { at: '.data.0.loss_fn_inputs.target_tokens.data', names: /data|target_tokens/ },
    { at: '.data.0.loss_fn_inputs.target_tokens.shape', legal: ['null', '[]'], names: /target_tokens/ },
    { at: '.data.0.loss_fn_inputs.target_tokens.dtype', legal: ['*'] },
    { at: '.data.0.loss_fn_inputs.weights', names: /weights|data/ },
    { at: '.data.0.loss_fn_inputs.mask' },
  ].map((field) => ({ ...field, at: at + field.at }))

const training = fieldsOf(
  'fields of forward_backward',
  api('forward_backward'),
  (context) => ({ model_id: placeOf(context).abused, forward_backward_input: input() }),
  [model, number, ...inputFields('forward_backward_input')],
)

const forward = fieldsOf(
  'fields of forward',
  api('forward'),
  (context) => ({ model_id: placeOf(context).abused, forward_input: input() }),
  [
    model,
    { at: 'forward_input', names: /forward_input|loss_fn/ },
    { at: 'forward_input.data', names: /data|datum/i },
    { at: 'forward_input.loss_fn', names: /loss/ },
  ],
)

const optimiser = fieldsOf(
  'fields of optim_step',
  api('optim_step'),
  (context) => ({ model_id: placeOf(context).abused, adam_params: { learning_rate: 0 } }),
  [
    model,
    number,
    { at: 'adam_params', legal: ['{}', '{"a":1}'] },
    { at: 'adam_params.beta1', legal: ['null', '0'] },
    { at: 'adam_params.beta2', legal: ['null', '0'] },
    { at: 'adam_params.eps', legal: ['null', ...finite] },
    { at: 'adam_params.weight_decay', legal: ['null', ...finite] },
    { at: 'adam_params.grad_clip_norm', legal: ['null', ...finite] },
    { at: 'adam_params.optimizer', legal: ['null'], names: /optimi[sz]er/ },
    { at: 'adam_params.learning_rate', legal: ['null', ...finite] },
  ],
)

const models = fieldsOf(
  'fields of create_model',
  api('create_model'),
  (context) => ({
    session_id: placeOf(context).session,
    model_seq_id: 0,
    base_model: 'served',
    lora_config: { rank: 2 },
  }),
  [
    session,
    base,
    { at: 'model_seq_id', legal: ['0'], either: ['null'] },
    { at: 'lora_config', legal: ['null'], names: /lora_config|rank/ },
    { at: 'lora_config.rank', legal: ['0'] },
    { at: 'lora_config.seed', legal: ['null', '0'] },
    ...['train_attn', 'train_mlp', 'train_unembed'].map((name) => ({
      at: `lora_config.${name}`,
      legal: optionalFlag,
    })),
  ],
)

const samples = fieldsOf(
  'fields of asample',
  api('asample'),
  () => ({
    base_model: 'served',
    prompt: { chunks: [{ tokens: [9, 10, 11] }] },
    num_samples: 1,
    sampling_params: { max_tokens: 2, temperature: 0 },
  }),
  [
    base,
    { at: 'model_path', legal: ['null'], status: unknown, names: /path/ },
    { at: 'sampling_session_id', legal: ['null'], status: unknown, names: /sampling.session/ },
    { at: 'prompt', names: /prompt|chunks|tokens/ },
    { at: 'prompt.chunks', names: /chunk|token/ },
    { at: 'prompt.chunks.0', names: /chunk|nothing but text/ },
    { at: 'prompt.chunks.0.tokens' },
    { at: 'num_samples', legal: ['null'], names: /samples/ },
    { at: 'prompt_logprobs', legal: optionalFlag },
    { at: 'topk_prompt_logprobs', legal: ['null', '0'] },
    { at: 'agoge', legal: ['null'], names: /agoge|keys/ },
    { at: 'sampling_params', legal: ['null', '{}', '{"a":1}'] },
    { at: 'sampling_params.max_tokens', legal: ['null'] },
    { at: 'sampling_params.temperature', legal: ['null', '0', '1.5'], either: finite },
    { at: 'sampling_params.top_k', legal: ['null', '0', '-1'], either: ['-1e999', ...finite] },
    { at: 'sampling_params.top_p', legal: ['null'], either: finite },
    { at: 'sampling_params.seed', legal: ['null', '0', '-1'], either: finite },
    {
      at: 'sampling_params.stop',
      legal: ['null', '0', '"x"', '"\\u0000"', '"-1"', '[]', '["x"]'],
      either: ['""', longText],
    },
  ],
)

const weights: Kind[] = [
  fieldsOf(
    'fields of save_weights',
    api('save_weights'),
    (context) => ({ model_id: placeOf(context).abused }),
    [model, number, { at: 'path', ...checkpointName }, { at: 'overwrite', legal: optionalFlag }],
  ),
  fieldsOf(
    'fields of save_weights_for_sampler',
    api('save_weights_for_sampler'),
    (context) => ({ model_id: placeOf(context).abused, sampling_session_seq_id: 1000 }),
    [
      model,
      { at: 'path', ...checkpointName },
      { at: 'sampling_session_seq_id', legal: ['0'] },
      { at: 'agoge', legal: ['null', '{}', '{"a":1}'] },
      { at: 'agoge.apart', legal: optionalFlag },
    ],
  ),
  fieldsOf(
    'fields of load_weights',
    api('load_weights'),
    (context) => ({ model_id: placeOf(context).abused, path: placeOf(context).checkpoint }),
    [model, { at: 'path', status: unknown }, { at: 'optimizer', legal: optionalFlag }],
  ),
]

const others: Kind[] = [
  fieldsOf(
    'fields of session_heartbeat',
    api('session_heartbeat'),
    (context) => ({ session_id: placeOf(context).session }),
    [session],
  ),
  fieldsOf(
    'fields of create_sampling_session',
    api('create_sampling_session'),
    (context) => ({
      session_id: placeOf(context).session,
      sampling_session_seq_id: 2000,
    }),
    // It is never said what to sample from, so none of them makes a session.
    [
      session,
      { at: 'sampling_session_seq_id', either: ['0'], names: /sampling/ },
      { at: 'model_path', status: unknown, names: /path/ },
    ],
  ),
  fieldsOf('fields of retrieve_future', api('retrieve_future'), () => ({ request_id: '' }), [
    { at: 'request_id', status: unknown, names: /request/ },
  ]),
  fieldsOf('fields of weights_info', api('weights_info'), () => ({ tinker_path: '' }), [
    { at: 'tinker_path', status: unknown, names: /path/ },
  ]),
  ...['get_info', 'unload_model'].map((call) =>
    fieldsOf(`fields of ${call}`, api(call), () => ({ model_id: '' }), [model]),
  ),
]

/** Every field of every call with a value of every sort. */
export const tinkerFields: readonly Kind[] = [
  training,
  forward,
  optimiser,
  models,
  samples,
  ...weights,
  ...others,
]
