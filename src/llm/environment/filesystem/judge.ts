import type { Judgement, Outcome } from '../../agent/types.ts'
import type { FileTree, FilesystemTask, WantedAnswer } from './task.ts'
import { treeDifference } from './tree.ts'

/** How much may stand around the wanted value: room for "The file says ...", none for listing everything. */
const surroundings = 80

/**
 * Success needs both: a sandbox that ends exactly as wanted (every folder, every file, every text), and the wanted
 * answer. How the agent got there does not count.
 */
export function judgeOutcome(task: FilesystemTask, found: FileTree, outcome: Outcome): Judgement {
  const difference = treeDifference(found, task.goal)
  const answered = answers(task.answer, outcome.answer)
  const success = difference === undefined && answered
  return {
    success,
    parts: { state: difference === undefined ? 1 : 0, answer: answered ? 1 : 0 },
    ...(success ? {} : { reason: difference ?? 'the answer is not the wanted one' }),
  }
}

/**
 * Does this answer give what was wanted? Space, quotes and a full stop around it do not count; upper and lower case
 * do. A text must be the wanted one, or hold it as a whole in a short sentence that holds none of the values it
 * could be mixed up with. A number must be the only one said.
 */
export function answers(wanted: WantedAnswer, answer: string | null): boolean {
  if (answer === null || answer.trim() === '') return false
  if (wanted.kind === 'any') return true
  if (wanted.kind === 'number') {
    const numbers = answer.match(/\d+(?:\.\d+)?/g) ?? []
    return numbers.length === 1 && Number(numbers[0]) === wanted.number && !answer.includes('-')
  }
  const said = bare(answer)
  const text = bare(wanted.text)
  if (said === text) return true
  if (said.length > text.length + surroundings || !holds(said, text)) return false
  const rest = said.replace(text, ' ')
  return !wanted.others.some((other) => other !== '' && holds(rest, bare(other)))
}

const bare = (text: string): string =>
  text
    .trim()
    .replace(/^["'`“]+|["'`”.\s]+$/g, '')
    .trim()

/** Holds the value as a whole: not as a part of a longer word or path. */
function holds(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const before = text.charAt(at - 1)
    const after = text.slice(at + value.length)
    if (!/[\w/.-]/.test(before) && !/^(?:[\w/-]|\.\w)/.test(after)) return true
  }
  return false
}
