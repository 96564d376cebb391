// What runs store: episodes and task files.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  fileTaskSchema,
  fromFileTask,
  readTaskFile,
  toFileTask,
} from '../../../src/llm/environment/mcp/goals/task-file.ts'
import { decodeEpisode, encodeEpisode } from '../../../src/llm/episode/codec.ts'
import { toTrainingSequences } from '../../../src/llm/episode/training-sequences.ts'
import type { Episode } from '../../../src/llm/episode/types.ts'
import { makeJson } from '../mutate-json.ts'
import { makeText } from '../mutate-text.ts'
import { isRecord, jsonOf, mustEqual, textOf } from '../parser.ts'
import type { FuzzParser } from '../parser.ts'
import { folder } from '../scratch.ts'

const episode: Episode = {
  schema: 1,
  id: 'train/1/0',
  group: 'train/1',
  environment: 'filesystem',
  task: 'train/3',
  kind: 'move',
  seed: 7,
  context: { tools: ['move_file'], nested: { value: [1, 'two', null] } },
  status: 'ok',
  ending: 'answered',
  nodes: [
    { id: 0, parent: null, agent: 'main', role: 'user', tokens: Int32Array.of(3, 9, 1), text: 'Move a.txt' },
    {
      id: 1,
      parent: 0,
      agent: 'main',
      role: 'assistant',
      tokens: Int32Array.of(4, 11, 1),
      text: '',
      calls: [{ id: '0.0', name: 'move_file', arguments: { source: 'a.txt' } }],
    },
    {
      id: 2,
      parent: 1,
      agent: 'main',
      role: 'tool',
      tokens: Int32Array.of(5, 1),
      text: 'ok',
      callId: '0.0',
      isError: false,
    },
    { id: 3, parent: 2, agent: 'main', role: 'assistant', tokens: Int32Array.of(4, 1), text: 'done' },
  ],
  samples: [
    {
      path: [0],
      output: 1,
      logprobs: Float32Array.of(0, -0.5, -0.25),
      mask: Uint8Array.of(0, 1, 1),
      weightVersion: 3,
      sampling: { temperature: 1 },
      trainable: true,
    },
    {
      path: [0, 1, 2],
      output: 3,
      logprobs: Float32Array.of(0, -1),
      mask: Uint8Array.of(0, 1),
      weightVersion: 3,
      sampling: { temperature: 1, topP: 0.9 },
      trainable: true,
    },
  ],
  rewards: [{ agent: 'main', name: 'success', value: 1 }],
  success: true,
  usage: { promptTokens: 5, sampledTokens: 5, calls: 1, invalidCalls: 0 },
  timing: { seconds: 0.5, toolSeconds: 0.1 },
}

const failed: Episode = {
  ...episode,
  status: 'masked',
  ending: 'infrastructure',
  success: null,
  samples: [],
  rewards: [{ agent: 'main', name: 'success', value: null, reason: 'the server ended' }],
  error: 'the server ended',
}

const episodes = {
  examples: [
    encodeEpisode(episode),
    encodeEpisode(failed),
    // Version 0.1 named two fields otherwise.
    encodeEpisode(episode).replace('"environment":', '"world":').replace('"kind":', '"family":'),
  ],
  words: [
    ...'schema id group environment world kind family task seed context status ending nodes samples rewards success usage'.split(
      ' ',
    ),
    ...'timing tokens logprobs mask path output parent role calls callId isError invalid promptTokens ok masked failed'.split(
      ' ',
    ),
  ],
}

const episodeLine: FuzzParser = {
  name: 'a line of episodes.jsonl',
  share: 2,
  make: (random) => makeJson(random, episodes),
  parse(input, reach) {
    const line = textOf(input)
    const read = jsonOf(line)
    if (read !== undefined) reach(1)
    if (isRecord(read?.value) && read.value['schema'] === 1) reach(2)
    const decoded = decodeEpisode(line, 'episodes.jsonl:1')
    reach(3)
    const written = encodeEpisode(decoded)
    mustEqual(encodeEpisode(decodeEpisode(written)), written, 'an episode written and read')
    toTrainingSequences(decoded, () => ({ advantage: 1, weights: { rl: 1 } }))
  },
}

const taskLines = [
  {
    id: '1',
    prompt: 'How many files are there?',
    kind: 'count',
    split: 'train',
    expected: { answer: 3, others: ['4'] },
  },
  {
    id: '2',
    prompt: 'Which city?',
    reference: [{ name: 'get', arguments: { id: 1 } }],
    expected: { answer: 'Oslo' },
  },
  {
    id: '3',
    prompt: 'List them',
    seeds: [{ name: 'add', arguments: { a: [1] } }],
    expected: { answer: ['a', 2], state: '{}' },
  },
  { id: '4', prompt: 'Is there one?', split: 'test', reference: [], expected: { answer: null } },
]
const taskWords = [
  ...Object.keys(fileTaskSchema.properties),
  'answer',
  'others',
  'state',
  'name',
  'arguments',
  'unseen-wording',
]
const tasks = { examples: taskLines.map((line) => JSON.stringify(line)), words: taskWords }

const taskFile: FuzzParser = {
  name: 'a task file',
  share: 0.7,
  make(random) {
    const lines = Array.from({ length: 1 + random.int(3) }, () => makeJson(random, tasks))
    const text = lines.join(random.pick(['\n', '\r\n', '\n\n']))
    return random.next() < 0.1 ? makeText(random, { examples: [text], words: taskWords }) : text
  },
  parse(input, reach) {
    const text = textOf(input)
    const first = jsonOf(text.split('\n')[0])
    if (first !== undefined) reach(1)
    if (isRecord(first?.value) && typeof first.value['id'] === 'string') reach(2)
    const file = join(folder(), 'tasks.jsonl')
    writeFileSync(file, text)
    const read = readTaskFile(file)
    reach(3)
    const written = read.map((task, at) => toFileTask(fromFileTask(task, at)))
    writeFileSync(file, written.map((task) => JSON.stringify(task)).join('\n'))
    const again = readTaskFile(file).map((task, at) => toFileTask(fromFileTask(task, at)))
    mustEqual(again, written, 'tasks written and read')
  },
}

export const episodeParsers: readonly FuzzParser[] = [episodeLine, taskFile]
