import { checkFile } from '../../runs/files.ts'
import { createLineWriter } from '../../runs/line-writer.ts'
import { sha256 } from '../../runs/checksums.ts'
import { streamEpisodes } from '../episode/codec.ts'
import type { Episode } from '../episode/types.ts'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import { conversationTo } from './conversation.ts'
import { importedTaskId } from './trace-episode.ts'

/** Settings of `writeTasks`. */
export interface WriteTasksOptions {
  /** The task file, which is replaced. */
  out: string
  /** Takes the final answer of a conversation as what is right. Default: false; the tasks then expect nothing. */
  trustAnswers?: boolean
}

/** What became of the episodes. */
export interface WrittenTasks {
  tasks: number
  /** Tasks with an expected answer. */
  expected: number
  /** Episodes whose prompt was there already. */
  duplicates: number
  /** Prompts that differ from an earlier one only in case, digits, punctuation or spaces. They are written. */
  nearDuplicates: number
  /** With `trustAnswers`: tasks without an expected answer, because episodes answered otherwise. */
  contradictions: number
  /** With `trustAnswers`: tasks without one, because the conversation went on after the first request, or did not end with an answer. */
  unanswered: number
  /** Episodes without a message of a user. */
  promptless: number
}

interface KnownPrompt {
  /** Hash of the answer; null if there is none, false if there are several. */
  answer: string | null | false
  isWritten: boolean
}

/**
 * Makes tasks of the first requests of episodes, one for each prompt, in the format of `agoge tasks`. Reads the file twice, as a stream, and
 * keeps a hash of each prompt.
 *
 * @param episodes a file of episodes.
 * @returns how many tasks there are, and what was left out.
 * @throws AgogeError as `readEpisodes` does for a line that is no episode.
 * @example await writeTasks('episodes.jsonl', { out: 'tasks.jsonl', trustAnswers: true })
 */
export async function writeTasks(
  episodes: string,
  { out, trustAnswers = false }: WriteTasksOptions,
): Promise<WrittenTasks> {
  checkFile(out)
  const known = new Map<string, KnownPrompt>()
  const similar = new Set<string>()
  const written: WrittenTasks = {
    tasks: 0,
    expected: 0,
    duplicates: 0,
    nearDuplicates: 0,
    contradictions: 0,
    unanswered: 0,
    promptless: 0,
  }
  for await (const episode of streamEpisodes(episodes)) {
    const prompt = promptOf(episode)
    if (prompt === undefined) {
      written.promptless += 1
      continue
    }
    const answer = answerOf(episode)
    const hash = answer === undefined ? null : sha256(answer)
    const id = importedTaskId(prompt)
    const before = known.get(id)
    if (before === undefined) {
      known.set(id, { answer: hash, isWritten: false })
      const shape = sha256(shapeOf(prompt)).slice(0, 32)
      if (similar.has(shape)) written.nearDuplicates += 1
      similar.add(shape)
      continue
    }
    written.duplicates += 1
    if (before.answer === null) before.answer = hash
    else if (hash !== null && before.answer !== hash) before.answer = false
  }
  const writer = createLineWriter(out)
  try {
    for await (const episode of streamEpisodes(episodes)) {
      const task = taskOf(episode, known, trustAnswers)
      if (task === undefined) continue
      written.tasks += 1
      if (task.expected !== undefined) written.expected += 1
      writer.write(JSON.stringify(task))
    }
    writer.finish()
  } finally {
    writer.discard()
  }
  if (trustAnswers)
    for (const { answer } of known.values()) {
      if (answer === false) written.contradictions += 1
      if (answer === null) written.unanswered += 1
    }
  return written
}

/** The task of an episode; undefined if that prompt has its task already. */
function taskOf(
  episode: Episode,
  known: Map<string, KnownPrompt>,
  trustAnswers: boolean,
): FileTask | undefined {
  const prompt = promptOf(episode)
  if (prompt === undefined) return undefined
  const id = importedTaskId(prompt)
  const entry = known.get(id)
  if (entry === undefined || entry.isWritten) return undefined
  const answer = answerOf(episode)
  // Of several episodes, the first that has the answer.
  if (trustAnswers && typeof entry.answer === 'string' && answer === undefined) return undefined
  entry.isWritten = true
  const isExpected = trustAnswers && typeof entry.answer === 'string' && answer !== undefined
  return { id, prompt, kind: 'imported', ...(isExpected && { expected: { answer } }) }
}

function promptOf({ nodes }: Episode): string | undefined {
  const text = nodes.find(({ role }) => role === 'user')?.text
  return text === undefined || text.trim() === '' ? undefined : text
}

/** The final answer to the only request of a conversation. */
function answerOf({ nodes, samples, status, ending }: Episode): string | undefined {
  const last = samples.at(-1)
  if (status !== 'ok' || ending !== 'answered' || last === undefined) return undefined
  const conversation = conversationTo(nodes, last.output)
  const requests = conversation.filter(({ role }) => role === 'user').length
  const answer = conversation.at(-1)
  // A sub-agent may have been the last to speak.
  const isFirst = answer?.agent === nodes.find(({ id }) => id === samples[0].output)?.agent
  const text = answer?.text.trim() ?? ''
  return requests === 1 && isFirst && text !== '' ? text : undefined
}

/** A prompt without what is often exchanged in it. */
function shapeOf(prompt: string): string {
  return prompt
    .toLowerCase()
    .replaceAll(/\d+/g, '0')
    .replaceAll(/[^\p{L}0]+/gu, ' ')
    .trim()
}
