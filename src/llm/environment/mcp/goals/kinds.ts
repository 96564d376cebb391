import { hash32 } from '../../../../engine/random/index.ts'
import type { Task } from '../../../agent/types.ts'
import { spoken } from '../arguments/words.ts'
import { requiredOf } from '../arguments/schema-parts.ts'
import {
  type ChangingStatement,
  changingStatements,
  type ReadingStatement,
  readingStatements,
} from '../arguments/sql.ts'
import type { KindPlan } from '../mcp-task.ts'
import type { AdmittedTool } from '../safety.ts'
import type { QuestionForm } from './questions.ts'

/**
 * A kind of task. - `changes`: calls that change the state. - `question`: something about the result of a reading tool,
 * perhaps after changes. - `chain`: the result of one reading tool is the argument of another. - `look-up`: a call whose
 * argument must be found first. - `join`: two lists, of which the first names a record of the second. - `condition`: one of
 * two changes, by what the state shows.
 */
export interface GoalKind {
  name: string
  build: 'changes' | 'question' | 'chain' | 'look-up' | 'join' | 'condition'
  /** Combinations of tools, of which a task takes one. */
  combinations: readonly Combination[]
  /** What is asked of the last call's result. */
  form?: QuestionForm
  /** The statement of SQL that the call makes. Default: any. */
  statement?: ChangingStatement | ReadingStatement
  /**
   * How often an agent succeeds that looks at nothing: it refuses, or says a small number. Kinds above one tenth are at
   * most a tenth of the tasks.
   */
  chance: number
  /** Only tested: no task of training is of this kind. */
  heldOut: boolean
}

export interface Combination {
  tools: readonly AdmittedTool[]
  linked?: string
  anchor?: string
  /** Shows the records among which an argument is found, or on which a condition depends. */
  lister?: AdmittedTool
}

/** How often a guess without looking is right. A list that fits into what the model sees has one to five records. */
const chances: Readonly<Record<QuestionForm, number>> = {
  fact: 0,
  which: 0,
  all: 0,
  most: 0,
  count: 0.4,
  'count-where': 0.5,
  missing: 1,
}

const most = 24

/**
 * The kinds of tasks that could be made of tools that work. Trying shows which can. Those of a single call come first.
 *
 * @param about `hasRecords`: whether a tool may return a list of records. `takesStatements`: whether a tool takes statements of SQL,
 *   each of which is a kind of its own, and some of which may only read.
 */
export function goalKinds(
  plans: readonly KindPlan[],
  { hasRecords, takesStatements }: Record<'hasRecords' | 'takesStatements', (tool: string) => boolean>,
): GoalKind[] {
  const singles = plans.filter((plan) => plan.tools.length === 1)
  const anchors = new Map(
    singles.map(({ tools: [tool], anchor }) => [tool.spec.name, anchor ?? timeArgument(tool)]),
  )
  const tools = singles.map((plan) => plan.tools[0])
  const writers = tools.filter((tool) => tool.kind === 'write')
  const doubles = writers.filter((tool) => takesStatements(tool.spec.name))
  const readers = [
    ...tools.filter((tool) => tool.kind === 'read'),
    ...doubles.map((tool): AdmittedTool => ({ ...tool, kind: 'read' })),
  ]
  const listing = readers.filter((tool) => hasRecords(tool.spec.name))
  const listers = listing.filter((tool) => requiredOf(tool.spec.inputSchema).length === 0)
  const takers = (some: readonly AdmittedTool[]): AdmittedTool[] =>
    some.filter((tool) => requiredOf(tool.spec.inputSchema).length > 0)
  const of = (...list: readonly AdmittedTool[]): Combination => {
    const anchor = anchors.get(list[list.length - 1].spec.name)
    return anchor === undefined ? { tools: list } : { tools: list, anchor }
  }
  const byStatement = (
    { spec: { name } }: AdmittedTool,
    statements: readonly NonNullable<GoalKind['statement']>[],
    kind: Omit<Made, 'name'>,
  ): Made[] =>
    takesStatements(name)
      ? statements.map((statement) => ({ ...kind, name: `${name} (${statement.toLowerCase()})`, statement }))
      : [{ ...kind, name }]
  const kinds: Omit<GoalKind, 'chance' | 'heldOut'>[] = [
    ...writers.flatMap((tool): Made[] =>
      byStatement(tool, changingStatements, { build: 'changes', combinations: [of(tool)] }),
    ),
    ...readers.flatMap((tool): Made[] =>
      byStatement(tool, readingStatements, { build: 'question', combinations: [of(tool)], form: 'fact' }),
    ),
    ...pairs(writers, writers, 'two changes', 'changes', of),
    ...joins(listing),
    ...(['which', 'all', 'most'] as const).flatMap((form) =>
      listing.map((tool) => ({
        name: `${tool.spec.name} (${form})`,
        build: 'question' as const,
        combinations: [of(tool)],
        form,
      })),
    ),
    ...pairs(writers, takers(readers), 'change and read', 'question', of),
    ...lookUps(listers, takers(writers), 'look up and change'),
    ...lookUps(listers, takers(readers), 'look up and read'),
    ...sequences(writers, [3, 4], 'three or four changes', of),
    ...chains(plans),
    ...(writers.length > 0 && listers.length > 0
      ? [
          {
            name: 'condition',
            build: 'condition' as const,
            combinations: listers.flatMap((lister) =>
              writers.flatMap((yes) => writers.map((no) => ({ tools: [yes, no], lister }))),
            ),
          },
        ]
      : []),
    ...sequences(writers, [5, 6], longestKind, of),
    // Kinds that can be guessed are few, over all tools together: a policy soon learns to refuse what it cannot do.
    ...(listing.length === 0
      ? []
      : (
          [
            ['how many', 'count'],
            ['not there', 'missing'],
            ['how many of a sort', 'count-where'],
          ] as const
        ).map(([name, form]) => ({
          name,
          build: 'question' as const,
          combinations: listing.map((tool) => of(tool)),
          form,
        }))),
  ]
  return kinds.slice(0, most * 2).map((kind) => ({
    ...kind,
    // A kind of one combination is known by its tools.
    name:
      isSequence(kind) && kind.combinations.length === 1 ? combinationName(kind.combinations[0]) : kind.name,
    chance: kind.form === undefined ? 0 : chances[kind.form],
    heldOut: false,
  }))
}

function isSequence({ build, combinations }: Made): boolean {
  return (
    build === 'look-up' || build === 'condition' || (build !== 'join' && combinations[0].tools.length > 1)
  )
}

type Made = Omit<GoalKind, 'chance' | 'heldOut'>
type Combine = (...list: readonly AdmittedTool[]) => Combination

function pairs(
  firsts: readonly AdmittedTool[],
  seconds: readonly AdmittedTool[],
  name: string,
  build: 'changes' | 'question',
  of: Combine,
): Made[] {
  const combinations = firsts.flatMap((first) => seconds.map((second) => of(first, second)))
  if (combinations.length === 0) return []
  return [{ name, build, combinations, ...(build === 'question' ? { form: 'fact' as const } : {}) }]
}

/** An optional date or time. Without it a tool answers for the present, which a task cannot ask for. */
function timeArgument({ kind, spec: { inputSchema } }: AdmittedTool): string | undefined {
  if (kind !== 'read') return undefined
  const required = requiredOf(inputSchema)
  return Object.keys(Object(inputSchema['properties'])).find(
    (name) =>
      !required.includes(name) &&
      /^(?:date|time|datetime|day|timestamp|when|now)$/.test(spoken(name).at(-1) ?? ''),
  )
}

/** Most sequences of one length. */
const mostSequences = 60

/** Some sequences of these lengths, spread over all there are. */
function sequences(
  writers: readonly AdmittedTool[],
  lengths: readonly number[],
  name: string,
  of: Combine,
): Made[] {
  if (writers.length === 0) return []
  const combinations = lengths.flatMap((length) => {
    const all = writers.length ** length
    const step = Math.max(1, Math.floor(all / mostSequences))
    return Array.from({ length: Math.ceil(all / step) }, (_, at) =>
      of(
        ...Array.from(
          { length },
          (_item, place) => writers[Math.floor((at * step) / writers.length ** place) % writers.length],
        ),
      ),
    )
  })
  return [{ name, build: 'changes', combinations }]
}

/** The name of the kind of the longest plans. */
export const longestKind = 'five or six changes'

/** Any two lists, also of one tool. */
function joins(listing: readonly AdmittedTool[]): Made[] {
  return listing.length === 0 ? [] : [{ name: 'join', build: 'join', combinations: [{ tools: listing }] }]
}

function lookUps(listers: readonly AdmittedTool[], targets: readonly AdmittedTool[], name: string): Made[] {
  const combinations = listers.flatMap((lister) => targets.map((target) => ({ tools: [target], lister })))
  if (combinations.length === 0) return []
  return [
    {
      name,
      build: 'look-up',
      combinations,
      ...(targets[0].kind === 'read' ? { form: 'fact' as const } : {}),
    },
  ]
}

function chains(plans: readonly KindPlan[]): Made[] {
  return plans
    .filter(({ linked }) => linked !== undefined)
    .map((plan) => ({
      name: plan.name,
      build: 'chain' as const,
      combinations: [{ tools: plan.tools, linked: plan.linked ?? '' }],
      form: 'fact' as const,
    }))
}

export function combinationName({ tools, lister }: Combination): string {
  return [
    ...(lister === undefined ? [] : [`${lister.spec.name}>`]),
    ...tools.map((tool) => tool.spec.name),
  ].join('+')
}

/**
 * The combinations of a kind that a split may use. A quarter of four or more is kept for test and unseen wording, where
 * nothing else of the kind is asked.
 */
export function combinationsFor(kind: GoalKind, split: Task['split']): readonly Combination[] {
  if (kind.combinations.length < 4) return kind.combinations
  const isHeld = (combination: Combination): boolean =>
    hash32('mcp-combination', kind.name, combinationName(combination)) % 4 === 0
  const held = kind.combinations.filter(isHeld)
  if (held.length === 0 || held.length === kind.combinations.length) return kind.combinations
  return split === 'test' || split === 'unseen-paraphrase'
    ? held
    : kind.combinations.filter((combination) => !isHeld(combination))
}
