import type { ProposalRequest } from 'agoge'
import { createRandom } from 'agoge/engine'
import { type Operation, operations, type Random } from './operations.ts'

const vague = [
  'Be brief.',
  'Think step by step.',
  'You are a helpful assistant.',
  'Answer correctly.',
  'Be polite.',
  'Use plain words.',
]

/** How often the script finds out what an attempt should have been. Otherwise it draws any text. */
const insight = 0.02

/**
 * Proposes texts without a language model: this script stands for a large model, which cannot be had here. It reads one of the attempts that it is shown:
 * in one of fifty cases it finds an operation that explains what was expected, or what a tool did, and else it draws any operation or a vague text.
 */
export function scriptedProposer({ lever, count, seed, tools, examples }: ProposalRequest): string[] {
  const random = createRandom('scripted-proposer', lever, seed)
  const names = tools.map((line) => /^[\w-]+/.exec(line)?.[0] ?? '')
  const failed = examples.filter(({ isSuccess }) => !isSuccess)
  return Array.from({ length: count }, () => {
    const example = failed.length > 0 && random.next() < insight ? pick(random, failed) : undefined
    if (lever === 'tool-descriptions') {
      const { tool, operation } = (example && readTool(random, example)) ?? {
        tool: pick(random, names),
        operation: pick(random, operations),
      }
      const text = pick(random, operation.asks)
      return JSON.stringify({ [tool]: { description: text[0].toUpperCase() + text.slice(1) } })
    }
    const { mark, words } = readRequest(example?.request ?? pick(random, examples)?.request ?? '')
    const explaining = operations.filter(({ apply }) => apply(words) === example?.expected)
    const text = pick(random, pick(random, explaining.length > 0 ? explaining : operations).asks)
    if (lever === 'playbook') return mark === undefined ? text : `${mark}: ${text}`
    return explaining.length === 0 && random.next() < 0.6 ? pick(random, vague) : text
  })
}

const pick = <T>(random: Random, from: readonly T[]): T => from[random.int(from.length)]

function readRequest(request: string): { mark?: string; words: string[] } {
  const [, mark, words] = /^(?:(\w+): )?(.*)$/.exec(request) ?? []
  return { ...(mark !== undefined && { mark }), words: (words ?? '').split(' ') }
}

/** A call of a tool in an attempt, with an operation that explains its result. */
function readTool(
  random: Random,
  { conversation }: ProposalRequest['examples'][number],
): { tool: string; operation: Operation } | undefined {
  const [, tool, given, result] = /^(?:assistant: )?([\w-]+) (\{.*\})\ntool: (.*)$/m.exec(conversation) ?? []
  if (tool === undefined || given === undefined || result === undefined) return undefined
  const words = /"text":"([^"]*)"/.exec(given)?.[1]?.split(' ') ?? []
  const explaining = operations.filter(({ apply }) => apply(words) === result)
  return explaining.length === 0 ? undefined : { tool, operation: pick(random, explaining) }
}
