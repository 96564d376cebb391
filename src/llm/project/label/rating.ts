import { createRandom } from '../../../engine/random/random.ts'
import { AgogeError } from '../../../error.ts'
import type { Trial } from '../config.ts'
import { appendLabel, readLabels } from '../judging/labels.ts'
import { textOf } from '../scorers.ts'

/** What a rater sees of a trial: neither its model, nor its scores, nor its number. */
export interface RatedItem {
  /** Names the trial for this rater; its place in an order drawn by chance. */
  key: number
  task: string
  conversation: {
    role: string
    text: string
    calls: { name: string; arguments: unknown }[]
    isError: boolean
  }[]
  answer: string
}

/** What the page shows: the next trial, or none when all are done. */
export interface RatingState {
  done: number
  total: number
  canTakeBack: boolean
  item: RatedItem | null
}

/** The trials of an evaluation for one rater. */
export interface Rating {
  state: () => RatingState
  /** @throws AgogeError `bad-argument` if `key` is not of the trial that is shown. */
  label: (key: number, success: boolean) => void
  /** Shows the trial again after all others. */
  skip: (key: number) => void
  /** Takes the last label of this process back and shows its trial again. */
  takeBack: () => void
}

/**
 * Trials without a label of the rater, in an order drawn by chance. Each label is appended to the file at once, so that the work
 * can be stopped at any time.
 *
 * @param options.seed of the order. Default: 0.
 */
export function createRating(
  trials: readonly Trial[],
  { file, rater, seed = 0 }: { file: string; rater: string; seed?: number },
): Rating {
  const sorted = [...trials].sort((a, b) => (a.id < b.id ? -1 : 1))
  const order = createRandom(seed, 'labels').shuffle(sorted)
  const earlier = new Set(readLabels(file).flatMap((label) => (label.rater === rater ? [label.trial] : [])))
  let waiting = order.flatMap(({ id }, key) => (earlier.has(id) ? [] : [key]))
  const given: number[] = []
  let since = performance.now()

  function requireShown(key: number): void {
    if (waiting[0] === key) return
    throw new AgogeError('another trial is shown', {
      code: 'bad-argument',
      given: key,
      expected: String(waiting[0] ?? 'none: all are labelled'),
    })
  }
  function write(key: number, success: boolean | null): void {
    const seconds = Math.round((performance.now() - since) / 100) / 10
    since = performance.now()
    appendLabel(file, { trial: order[key].id, rater, success, seconds, at: new Date().toISOString() })
  }
  return {
    state: () => ({
      done: order.length - waiting.length,
      total: order.length,
      canTakeBack: given.length > 0,
      item: waiting.length === 0 ? null : itemOf(order[waiting[0]], waiting[0]),
    }),
    label(key, success) {
      requireShown(key)
      write(key, success)
      waiting = waiting.slice(1)
      given.push(key)
    },
    skip(key) {
      requireShown(key)
      waiting = [...waiting.slice(1), key]
      since = performance.now()
    },
    takeBack() {
      const last = given.at(-1)
      if (last === undefined) return
      write(last, null)
      given.pop()
      waiting = [last, ...waiting]
    },
  }
}

function itemOf({ given, nodes, output }: Trial, key: number): RatedItem {
  return {
    key,
    task: given.prompt,
    conversation: nodes.map(({ role, text, calls = [], isError = false }) => ({
      role,
      text,
      calls: calls.map((call) => ({ name: call.name, arguments: call.arguments })),
      isError,
    })),
    answer: textOf(output),
  }
}
