import { extname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { AgogeError } from '../../../error.ts'
import { writeWhole } from '../../../runs/files.ts'
import { readScore, type Score, type Scored } from '../../episode/score.ts'
import type { Episode, EpisodeNode } from '../../episode/types.ts'
import { isJudged } from '../../evaluation/summarise.ts'
import { recordedScore } from '../../reward/reward.ts'
import { toParquet } from './parquet.ts'

/** A message as chat templates and TRL read it. */
interface DatasetMessage {
  role: EpisodeNode['role']
  content: string
  tool_calls?: { type: 'function'; function: { name: string; arguments: Record<string, unknown> } }[]
  /** Of a tool: its name. */
  name?: string
}

interface Conversation {
  /** What was said before the policy spoke. */
  prompt: DatasetMessage[]
  /** From its first word on. */
  completion: DatasetMessage[]
  /** The policy attempted a call that could not be understood or carried out. */
  invalid: boolean
}

/**
 * The conversations of an episode, one for each end of its tree (one, where nothing branches), each up to the last thing that the policy
 * said.
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
    // The answer to an attempt that was no call belongs to none.
    return name === undefined ? { role: 'user', content: text } : { role, name, content: text }
  })
}

/** What a data set is for. */
export type DatasetKind = 'sft' | 'dpo' | 'grpo'

export interface DatasetOptions {
  kind: DatasetKind
  /** Of episodes that training did not score. */
  reward: (episode: Episode) => Score
  /** The name of the run, for the column `run`. */
  run: string
  /** The tools of the environment, for the column `tools`: JSON as a text, which TRL reads. */
  tools?: readonly unknown[]
}

/** Where a row comes from. */
interface Provenance {
  run: string
  environment: string
  task: string
  kind: string
  seed: number
  /** Of reinforcement learning; null for episodes of other phases. */
  step: number | null
  /** Of the weights that said it. */
  weight_version: number
}

type DatasetRow = Provenance & { [column: string]: unknown }

interface Judged {
  episode: Episode
  scored: Scored
  conversations: Conversation[]
}

/**
 * Rows of a data set from recorded episodes, in the columns that TRL reads. Masked episodes say nothing and are left out.
 *
 * - `sft`: `messages` of episodes that succeeded without an invalid call, each conversation once.
 * - `dpo`: `prompt`, `chosen`, `rejected`: within a group of episodes of one task under the same weights, the best with the worst, the
 *   second with the second worst, as long as one got more than the other; `score_chosen` and `score_rejected` are their rewards.
 * - `grpo`: `prompt` of each task once, with how often it succeeded and what it got on the mean.
 */
export function datasetRows(episodes: readonly Episode[], options: DatasetOptions): DatasetRow[] {
  const judged = episodes.filter(isJudged).flatMap((episode): Judged[] => {
    const scored = recordedScore(episode) ?? readScore(options.reward(episode), episode.id)
    const conversations = conversationsOf(episode)
    return scored.value === null || conversations.length === 0 ? [] : [{ episode, scored, conversations }]
  })
  const { tools } = options
  const rows = { sft: sftRows, dpo: dpoRows, grpo: grpoRows }[options.kind](judged, options.run)
  // A trainer that rolls out has the tools itself, as functions.
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

function dpoRows(judged: readonly Judged[], run: string): DatasetRow[] {
  return groups(judged, ({ episode }) => episode.group).flatMap((members) => {
    // Of an episode that branches, what it came to in the end.
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

/** @throws AgogeError `unknown-format` for a file that is neither `.jsonl` nor `.parquet`. */
export function checkDatasetFile(file: string): void {
  if (formats.includes(extname(file))) return
  throw new AgogeError(`The ending of ${file} does not say what it is to be.`, {
    code: 'unknown-format',
    given: extname(file) === '' ? 'no ending' : extname(file),
    expected: formats.join(' or '),
  })
}

/** Writes rows as JSONL or Parquet, as the ending of the file says; the file is whole or not there. */
export function writeDataset(file: string, rows: readonly Readonly<Record<string, unknown>>[]): void {
  checkDatasetFile(file)
  if (extname(file) === '.parquet') writeWhole(file, toParquet(rows))
  else writeWhole(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
}
