import { dirname, relative, resolve, sep } from 'node:path'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { sha256 } from '../../runs/checksums.ts'
import { readForeignFile } from '../../untrusted/foreign-file.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import { isRecord } from '../../untrusted/schema-check.ts'
import type { ConversationMessage } from '../agent/chat-format/types.ts'

/** Messages that show how a task is done, from the user's to the answer. */
export interface Demonstration {
  /** The task that it is of. */
  task?: string
  messages: readonly ConversationMessage[]
}

/** A line of a playbook: a rule that an earlier failure taught. */
export interface PlaybookItem {
  id: string
  text: string
}

/** What a call does to get a better answer than one sample. */
export type TestTime =
  /** Samples `count` answers and takes the most frequent one. */
  | { method: 'votes'; count: number; temperature?: number }
  /** Samples `count` answers and takes the one that a model prefers. */
  | { method: 'best'; count: number; judge: string; temperature?: number }
  /** Checks an answer, and asks again with the problem that was found, at most `retries` times. */
  | { method: 'verify'; retries: number }

/** Chooses a model for each conversation by the words of its first request. */
export interface Routing {
  /** For each model the weights of the features of a request; see `routeOf`. */
  models: Readonly<Record<string, readonly number[]>>
  /** Number of features. */
  size: number
}

/**
 * What is changed about the calls of an agent, without a change of the agent: the artefact of `agoge optimise`. It is a small JSON file.
 * Parts that are missing are as the agent has them.
 */
export interface AgentSetup {
  schema: 1
  /** Added to the system message; if it has the text of `replaces`, that is replaced. */
  instructions?: { text: string; replaces?: string }
  /** Lines after the instructions. */
  playbook?: readonly PlaybookItem[]
  /** Put before the conversation. */
  demonstrations?: readonly Demonstration[]
  /** Other names and descriptions of tools, by the name that the agent has for them. */
  tools?: Readonly<Record<string, { name?: string; description?: string }>>
  /** The model that answers, by its name in the config, instead of the agent's. */
  model?: string
  routing?: Routing
  testTime?: TestTime
  /** Folders of trained models that the setup names, by name. In a file: relative to its folder. */
  checkpoints?: Readonly<Record<string, string>>
}

/** A setup that changes nothing. */
export const plainSetup: AgentSetup = { schema: 1 }

/** What a setup changes about the prompt alone: not which model answers, nor how often it is asked. */
export function promptOf({ instructions, playbook, demonstrations, tools }: AgentSetup): AgentSetup {
  return { ...plainSetup, ...defined({ instructions, playbook, demonstrations, tools }) }
}

/** A short name of what a setup says: equal setups have equal ones. */
export const setupId = (setup: AgentSetup): string => sha256(canonical(setup)).slice(0, 10)

/** JSON with sorted names, so that the order in which parts were added does not matter. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null'
  const fields = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort()
  return `{${fields.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`
}

/**
 * Reads a setup that `agoge optimise` wrote.
 *
 * @throws AgogeError `bad-setup` naming the field, what was given and what is expected.
 * @example readSetup('agoge.setup.json').instructions?.text
 */
export function readSetup(path: string): AgentSetup {
  const file = resolve(path)
  return withCheckpointsIn(checkSetup(readForeignFile(file, parseForeignJson), file), dirname(file))
}

/** The setup with the absolute folders of its trained models, which are given relative to `folder`. */
export function withCheckpointsIn(setup: AgentSetup, folder: string): AgentSetup {
  return mapCheckpoints(setup, (place) => resolve(folder, place))
}

/** The setup with the folders of its trained models relative to `folder`, to be written there. */
export function withCheckpointsFrom(setup: AgentSetup, folder: string): AgentSetup {
  return mapCheckpoints(setup, (place) => relative(folder, place).split(sep).join('/'))
}

function mapCheckpoints(setup: AgentSetup, map: (place: string) => string): AgentSetup {
  if (setup.checkpoints === undefined) return setup
  const moved = Object.entries(setup.checkpoints).map(([name, place]) => [name, map(place)])
  return { ...setup, checkpoints: Object.fromEntries(moved) as Record<string, string> }
}

/** Checks a setup from a file or a program. @throws AgogeError `bad-setup`. */
export function checkSetup(value: unknown, source = 'the setup'): AgentSetup {
  const fail = (field: string, given: unknown, expected: string): never => {
    throw new AgogeError(`${source} has a wrong "${field}"`, { code: 'bad-setup', given, expected })
  }
  if (!isRecord(value)) return fail('contents', value, 'an object, as agoge optimise writes it')
  const setup = value as Record<keyof AgentSetup, unknown>
  if (setup.schema !== 1) fail('schema', setup.schema, '1')
  const { instructions, playbook, demonstrations, tools, model, routing, testTime, checkpoints } = setup
  const isText = (one: unknown): boolean => typeof one === 'string'
  const isOptional = (one: unknown): boolean => one === undefined || isText(one)
  if (instructions !== undefined)
    if (!isRecord(instructions) || !isText(instructions['text']) || !isOptional(instructions['replaces']))
      fail('instructions', instructions, '{ text, replaces? }')
  if (playbook !== undefined)
    if (
      !Array.isArray(playbook) ||
      !playbook.every((one) => isRecord(one) && isText(one['id']) && isText(one['text']))
    )
      fail('playbook', playbook, 'a list of { id, text }')
  if (demonstrations !== undefined)
    if (!Array.isArray(demonstrations) || !demonstrations.every(isDemonstration))
      fail('demonstrations', demonstrations, 'a list of { messages: [{ role, text, calls? }] }')
  if (tools !== undefined) {
    const isTool = (one: unknown): boolean =>
      isRecord(one) && isOptional(one['name']) && isOptional(one['description'])
    if (!isRecord(tools) || !Object.values(tools).every(isTool))
      fail('tools', tools, '{ TOOL: { name?, description? } }')
  }
  if (checkpoints !== undefined && !(isRecord(checkpoints) && Object.values(checkpoints).every(isText)))
    fail('checkpoints', checkpoints, '{ NAME: folder of a checkpoint }')
  if (!isOptional(model)) fail('model', model, 'the name of a model of the config')
  if (routing !== undefined && !isRouting(routing))
    fail('routing', routing, '{ size, models: { NAME: weights } }')
  if (testTime !== undefined && !isTestTime(testTime))
    fail('testTime', testTime, "{ method: 'votes' | 'best' | 'verify', ... }")
  return value as unknown as AgentSetup
}

const roles = ['user', 'assistant', 'tool', 'system']

function isDemonstration(one: unknown): boolean {
  if (!isRecord(one) || !Array.isArray(one['messages'])) return false
  return one['messages'].every(
    (message) =>
      isRecord(message) && roles.includes(String(message['role'])) && typeof message['text'] === 'string',
  )
}

function isRouting(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value['models']) || !Number.isInteger(value['size'])) return false
  const all = Object.values(value['models'])
  return all.length > 0 && all.every((weights) => Array.isArray(weights) && weights.length === value['size'])
}

const isCount = (value: unknown, least: number): boolean => Number.isInteger(value) && Number(value) >= least

function isTestTime(value: unknown): boolean {
  if (!isRecord(value)) return false
  if (value['method'] === 'votes') return isCount(value['count'], 2)
  if (value['method'] === 'best') return isCount(value['count'], 2) && typeof value['judge'] === 'string'
  return value['method'] === 'verify' && isCount(value['retries'], 1)
}
