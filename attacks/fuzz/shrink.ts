import { attackWith } from './attack-input.ts'
import { jsonOf } from './parser.ts'
import type { FuzzParser, Input } from './parser.ts'

/** Most attempts to make an input smaller. */
const mostTries = 300

/** A smaller input with the same kind of fault, as far as one is found soon. Slow inputs are left as they are. */
export async function shrink(parser: FuzzParser, input: Input, fault: string): Promise<Input> {
  const kind = kindOf(fault)
  if (kind === slow) return input
  const search = { tries: 0, best: input }
  const fails = async (smaller: Input): Promise<boolean> => {
    if (++search.tries > mostTries) return false
    const { fault: other } = await attackWith(parser, smaller)
    if (other === undefined || kindOf(other) !== kind) return false
    search.best = smaller
    return true
  }
  if (typeof input === 'string') await shrinkJson(input, fails)
  for (let size = Math.ceil(search.best.length / 2); size >= 1; size = Math.floor(size / 2))
    for (let at = 0; at < search.best.length;) {
      if (search.tries >= mostTries) return search.best
      if (!(await fails(without(search.best, at, at + size)))) at += size
    }
  return search.best
}

const slow = 'it took'

/** Faults of one kind have the same name and happen at the same line. */
function kindOf(fault: string): string {
  if (fault.startsWith(slow)) return slow
  return `${/^\w+/.exec(fault)?.[0]} ${/\((src[^)]*)\)$/.exec(fault)?.[1]}`
}

function without(input: Input, from: number, to: number): Input {
  if (typeof input === 'string') return input.slice(0, from) + input.slice(to)
  return Buffer.concat([input.subarray(0, from), input.subarray(to)])
}

/** Removes fields and items of a JSON text, and puts 0 in the place of others. */
async function shrinkJson(text: string, fails: (smaller: string) => Promise<boolean>): Promise<void> {
  if (text.length > 20_000) return
  let now = text
  for (let index = 0; ; index++) {
    const removed = edited(now, index, true)
    const replaced = edited(now, index, false)
    if (removed === undefined || replaced === undefined) return
    if (await fails(removed)) {
      now = removed
      index--
    } else if (replaced !== now && (await fails(replaced))) now = replaced
  }
}

/** The text without its place number `index`, or with 0 there. Undefined: it has no such place. */
function edited(text: string, index: number, isRemoved: boolean): string | undefined {
  const root = jsonOf(text)?.value
  let left = index
  const open = [root]
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    if (typeof holder !== 'object' || holder === null) continue
    for (const key of Object.keys(holder)) {
      if (left-- === 0) {
        if (!isRemoved) Object.defineProperty(holder, key, { value: 0, enumerable: true })
        else if (Array.isArray(holder)) holder.splice(Number(key), 1)
        else Reflect.deleteProperty(holder, key)
        return JSON.stringify(root)
      }
      open.push((holder as Record<string, unknown>)[key])
    }
  }
  return undefined
}
