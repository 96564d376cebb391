import { baseForm } from '../../../environment/mcp/request/inflect.ts'
import { verbs } from '../../../environment/mcp/request/lexicon.ts'
import { pick } from '../draw.ts'
import type { Draw } from '../draw.ts'

/** The verbs for what a tool does. */
export interface ActionVerbs {
  /** Verbs in names and descriptions of tools, and in requests. */
  names: readonly string[]
  /** Further verbs of requests. */
  said: readonly string[]
  /** Verbs that occur in no training conversation. */
  unseen: readonly string[]
}

const text = `
add: add create make register insert save enter log record put new | put in, set up, write down, note, open, start, introduce, include, draw up, take down, put together | establish, jot down, institute
get: get show fetch read view open load | look up, give me, tell me about, pull up, bring up, look at, check, display | retrieve, peruse, dig out
list: list show get all enumerate | show me, give me, go through, list up, name, read out, display | itemize, run down
search: search find query lookup locate | look for, search for, look up, hunt for, go looking for | scour for, track down
update: update edit change modify alter adjust | correct, rewrite, bring up to date, fix, rework, switch | amend, overhaul, revise
remove: remove delete drop erase discard clear | get rid of, take out, throw away, throw out, take away, cancel, strike, dump, lose | purge, scrap, jettison
count: count number tally | count up, add up, work out the number of | tot up, reckon up
set: set assign put change | make, turn, switch, fix, pick | designate, peg
finish: finish complete close end resolve | wind up, mark, check off, tick off, get done, settle | wrap up, conclude
move: move shift transfer send put | bring, take, carry, pass, push | relocate, haul
link: link connect attach join tie | hook up, bind, pair, put together | couple, yoke
unlink: unlink disconnect detach separate | cut, untie, split, part, take apart | sever, decouple
send: send post write mail submit | pass on, drop, deliver, shoot | dispatch, relay
raise: raise increase add bump | put up, turn up, lift, push up | boost, hike
lower: lower decrease reduce drop | bring down, turn down, cut, take down | diminish, slash
total: total sum | add up, work out | summate
compute: compute calculate work solve | work out, figure out, find | reckon, crunch
convert: convert change turn translate | make, switch, swap | transform, recast
check: check test inspect verify | look at, see, look over, go over | scrutinize, vet
switch: switch turn toggle | put, flip | flick
lend: lend loan issue | give, hand, hand over, let have | entrust
return: return restore | bring back, give back, take back, hand in | hand back
vote: vote choose pick | go for, put a vote for, back | opt for
push: push add enqueue append | put, queue, line up, put in line | stack up
take: take pop pull dequeue | get, pull out, call up | pluck
`

export type Action =
  | 'add'
  | 'get'
  | 'list'
  | 'search'
  | 'update'
  | 'remove'
  | 'count'
  | 'set'
  | 'finish'
  | 'move'
  | 'link'
  | 'unlink'
  | 'send'
  | 'raise'
  | 'lower'
  | 'total'
  | 'compute'
  | 'convert'
  | 'check'
  | 'switch'
  | 'lend'
  | 'return'
  | 'vote'
  | 'push'
  | 'take'

const split = (part: string, by: RegExp): string[] => part.trim().split(by)

const entries = new Map(
  split(text, /\n/).map((line): [string, ActionVerbs] => {
    const [action, rest] = line.split(': ')
    const [names, said, unseen] = rest.split(' | ')
    return [action, { names: split(names, / /), said: split(said, /, /), unseen: split(unseen, /, /) }]
  }),
)

function entryOf(action: Action | ActionVerbs): ActionVerbs {
  if (typeof action !== 'string') return action
  const entry = entries.get(action)
  if (entry === undefined) throw new Error(`no verbs for ${action}`)
  return entry
}

/** A verb for the name of a tool. */
export const nameVerb = (d: Draw, action: Action | ActionVerbs): string => pick(d, entryOf(action).names)

const nameOnly = new Set(['new', 'all', 'query', 'lookup', 'dequeue'])
let rare: ReadonlySet<string> | undefined

/** The verbs of requests for an action: those of training, or those that occur nowhere else. */
export function requestVerbs(action: Action | ActionVerbs, unseen: boolean): readonly string[] {
  const entry = entryOf(action)
  if (unseen) return entry.unseen
  // Verbs that are rare in MCP tasks may stand in the name of a tool, but in no request of training.
  rare ??= new Set([...[...verbs.values()].flatMap((known) => known.rare), ...unseenVerbs()])
  const all = [...entry.names, ...entry.said]
  return all.filter((verb) => !nameOnly.has(verb) && rare?.has(verb) !== true)
}

/** All verbs that no training conversation uses. */
export const unseenVerbs = (): string[] => [...entries.values()].flatMap(({ unseen }) => unseen)

/** The verb as the description of a tool begins: "Adds" or "Add". */
export function describedVerb(verb: string, third: boolean): string {
  const [head, ...rest] = verb.split(' ')
  const form = third ? thirdPerson(head) : head
  return [form.charAt(0).toUpperCase() + form.slice(1), ...rest].join(' ')
}

function thirdPerson(verb: string): string {
  if (baseForm(verb) !== verb) return verb
  if (/(?:ch|sh|s|x|z|o)$/.test(verb)) return `${verb}es`
  return /[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}ies` : `${verb}s`
}
