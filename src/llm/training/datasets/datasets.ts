import { extname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { AgogeError } from '../../../error.ts'
import { writeWhole } from '../../../runs/files.ts'
import { readScore, type Score, type Scored } from '../../episode/score.ts'
import type { Episode, EpisodeNode } from '../../episode/types.ts'
import { isJudged } from '../../evaluation/episode-statistics.ts'
import { recordedScore } from '../../reward/reward.ts'
import { toParquet } from './parquet.ts'

/** A message in the format of chat templates and TRL. */
interface DatasetMessage {
  role: EpisodeNode['role']
  content: string
  tool_calls?: { type: 'function'; function: { name: string; arguments: Record<string, unknown> } }[]
  /** The tool's name, for a message of a tool. */
  name?: string
}

interface Conversation {
  /** Messages before the policy's first output. */
  prompt: DatasetMessage[]
  /** Messages from the policy's first output on. */
  completion: DatasetMessage[]
  /** True if the policy made a call that could not be parsed or executed. */
  invalid: boolean
}

/**
 * The conversations of an episode: one per leaf of its tree, each up to the policy's last output. An episode without branches
 * has one.
 */
function conversationsOf({ nodes }: Pick<Episode, 'nodes'>): Conversation[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const said = nodes.filter(({ role }) => role === 'assistant')
  const pathTo = (node: EpisodeNode): EpisodeNode[] => {
    const path = [node]
    for (let at = node; at.parent !== null; path.unshift(at)) at = byId.get(at.parent)!
    return path
  }
  const paths = said.map(pathTo)
  const goneOn = new Set(paths.flatMap((path) => path.slice(0, -1)))
  return paths.filter((path) => !goneOn.has(path[path.length - 1])).map(toConversation)
}

function toConversation(path: readonly EpisodeNode[]): Conversation {
  const messages = toDatasetMessages(path)
  const first = path.findIndex(({ role }) => role === 'assistant')
  return {
    prompt: messages.slice(0, first),
    completion: messages.slice(first),
    invalid: path.some(({ invalid }) => invalid !== undefined),
  }
}

function toDatasetMessages(path: readonly EpisodeNode[]): DatasetMessage[] {
  const open = new Map<string, string>()
  return path.map(({ role, text, calls, callId }): DatasetMessage => {
    if (role === 'assistant') {
      open.clear()
      for (const { id, name } of calls ?? []) open.set(id, name)
      return {
        role,
        content: text,
        ...(calls === undefined || calls.length === 0
          ? {}
          : {
              tool_calls: calls.map(({ name, arguments: given }) => ({
                type: 'function',
                function: { name, arguments: given },
              })),
            }),
      }
    }
    if (role !== 'tool') return { role, content: text }
    const name = callId === undefined ? undefined : open.get(callId)
    // The reply to an invalid call answers no call id.
    return name === undefined ? { role: 'user', content: text } : { role, name, content: text }
  })
}

/** The training method that a data set is for. */
export type DatasetKind = 'sft' | 'dpo' | 'grpo'

export interface DatasetOptions {
  kind: DatasetKind
  /** The reward of episodes that training did not score. */
  reward: (episode: Episode) => Score
  /** The name of the run, for the column `run`. */
  run: string
  /**
   * What `dpo` pairs: `group`, the episodes of a task under the same weights, or `task`, all episodes of a task, also of several models.
   * Default: `group`.
   */
  pairs?: 'group' | 'task'
  /** The tools of the environment, for the column `tools`, as a JSON string that TRL reads. */
  tools?: readonly unknown[]
}

/** The origin of a row. */
interface Provenance {
  run: string
  environment: string
  task: string
  kind: string
  seed: number
  /** The step of reinforcement learning; null for episodes of other phases. */
  step: number | null
  /** The version of the weights that sampled it. */
  weight_version: number
}

type DatasetRow = Provenance & { [column: string]: unknown }

interface Judged {
  episode: Episode
  scored: Scored
  conversations: Conversation[]
}

/**
 * Rows of a data set from recorded episodes, in the columns that TRL reads. Masked episodes are left out.
 *
 * - `sft`: `messages` of successful episodes without an invalid call. Each conversation appears once.
 * - `dpo`: `prompt`, `chosen`, `rejected`. Pairs the episodes of one task under the same weights: best with worst, second best
 * with second worst, while their rewards differ. `score_chosen` and `score_rejected` are the rewards.
 * - `grpo`: `prompt` of each task once, with its success rate and mean reward.
 */
export function datasetRows(episodes: readonly Episode[], options: DatasetOptions): DatasetRow[] {
  const judged = episodes.filter(isJudged).flatMap((episode): Judged[] => {
    const scored = recordedScore(episode) ?? readScore(options.reward(episode), episode.id)
    const conversations = conversationsOf(episode)
    return scored.value === null || conversations.length === 0 ? [] : [{ episode, scored, conversations }]
  })
  const { tools, pairs = 'group', run } = options
  const rows = {
    sft: () => sftRows(judged, run),
    dpo: () => dpoRows(judged, run, pairs),
    grpo: () => grpoRows(judged, run),
  }[options.kind]()
  // A trainer that samples has the tools as functions.
  if (tools === undefined || options.kind === 'grpo') return rows
  return rows.map((row) => ({ ...row, tools: JSON.stringify(tools) }))
}

function provenance({ episode }: Judged, run: string): Provenance {
  const step = /^(?:rl|step)\/(\d+)\//.exec(episode.id)?.[1]
  return {
    run,
    environment: episode.environment,
    task: episode.task,
    kind: episode.kind,
    seed: episode.seed,
    step: step === undefined ? null : Number(step),
    weight_version: Math.max(0, ...episode.samples.map(({ weightVersion }) => weightVersion)),
  }
}

function sftRows(judged: readonly Judged[], run: string): DatasetRow[] {
  const seen = new Set<string>()
  return judged
    .filter(({ episode }) => episode.success === true)
    .flatMap((one) =>
      one.conversations.flatMap(({ prompt, completion, invalid }) => {
        const messages = [...prompt, ...completion]
        const key = JSON.stringify(messages)
        if (invalid || seen.has(key)) return []
        seen.add(key)
        return [
          {
            messages,
            ...provenance(one, run),
            episode: one.episode.id,
            reward: one.scored.value,
            reward_parts: one.scored.parts,
          },
        ]
      }),
    )
}

function dpoRows(judged: readonly Judged[], run: string, pairs: 'group' | 'task'): DatasetRow[] {
  return groups(judged, ({ episode }) => episode[pairs]).flatMap((members) => {
    // The last conversation represents an episode with branches.
    const said = (one: Judged): Conversation => one.conversations[one.conversations.length - 1]
    const ranked = [...members].sort((a, b) => b.scored.value - a.scored.value)
    const rows: DatasetRow[] = []
    for (let at = 0; at < ranked.length - 1 - at; at++) {
      const [chosen, rejected] = [ranked[at], ranked[ranked.length - 1 - at]]
      if (!(chosen.scored.value > rejected.scored.value)) break
      if (!isDeepStrictEqual(said(chosen).prompt, said(rejected).prompt)) continue
      rows.push({
        prompt: said(chosen).prompt,
        chosen: said(chosen).completion,
        rejected: said(rejected).completion,
        score_chosen: chosen.scored.value,
        score_rejected: rejected.scored.value,
        ...provenance(chosen, run),
        episode_chosen: chosen.episode.id,
        episode_rejected: rejected.episode.id,
      })
    }
    return rows
  })
}

function grpoRows(judged: readonly Judged[], run: string): DatasetRow[] {
  const promptOf = ({ conversations }: Judged): DatasetMessage[] => conversations[0].prompt
  return groups(judged, (one) => JSON.stringify(promptOf(one))).map((members) => {
    const mean = (values: readonly number[]): number =>
      values.reduce((sum, value) => sum + value, 0) / values.length
    return {
      prompt: promptOf(members[0]),
      ...provenance(members[members.length - 1], run),
      episodes: members.length,
      success: mean(members.map(({ episode }) => Number(episode.success))),
      reward: mean(members.map(({ scored }) => scored.value)),
    }
  })
}

function groups(judged: readonly Judged[], key: (one: Judged) => string): Judged[][] {
  const found = new Map<string, Judged[]>()
  for (const one of judged) found.set(key(one), [...(found.get(key(one)) ?? []), one])
  return [...found.values()]
}

const formats = ['.jsonl', '.parquet']

/** @throws AgogeError `unknown-format` unless the file ends in `.jsonl` or `.parquet`. */
export function checkDatasetFile(file: string): void {
  if (formats.includes(extname(file))) return
  throw new AgogeError(`The ending of ${file} is not a supported file type.`, {
    code: 'unknown-format',
    given: extname(file) === '' ? 'no ending' : extname(file),
    expected: formats.join(' or '),
  })
}

/** Writes rows as JSONL or Parquet, by the file's extension. The file is either complete or absent. */
export function writeDataset(file: string, rows: readonly Readonly<Record<string, unknown>>[]): void {
  checkDatasetFile(file)
  if (extname(file) === '.parquet') writeWhole(file, toParquet(rows))
  else writeWhole(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
}
