import { defined } from '../../../defined.ts'
import type { Expert, Task, TaskSource } from '../../agent/types.ts'
import { AgogeError } from '../../../error.ts'
import { createRandom, hash32 } from '../../../engine/random/index.ts'
import { splitKey } from '../../episode/split.ts'
import type { Random } from '../../../engine/random/index.ts'
import { createPromptTemplates, fillTemplate } from './prompt-templates.ts'
import type { PromptTemplate, PromptTemplates } from './prompt-templates.ts'
import { wordLists } from './words.ts'
import type { WordLists, WordSplit } from './words.ts'

/** What a task is drawn from. The task depends only on (split, seed, kind). */
export interface Draw {
  random: Random
  split: Task['split']
  seed: number
  /** Name of the kind of task. */
  kind: string
  /** English words for names and texts. Splits share no word. */
  words: WordLists
}

/** One task before its prompt is written. */
export interface TaskDraft {
  /** Values for the placeholders of the prompt template. */
  holes?: Readonly<Record<string, string>>
  /** The whole prompt, for kinds without templates. */
  prompt?: string
  /** The calls and the answer of a reference solution. */
  plan: Expert
  /** 1 = easiest. */
  difficulty: number
  /** What the task is about, for reports. */
  context?: Record<string, unknown>
  /**
   * Identifies the question: two tasks with the same key ask the same. Its hash decides the split. Default: the
   * placeholder values, or the state if there are none.
   */
  key?: string
}

/** A kind of task: its prompt templates, and a function that draws a task. */
export interface TaskKind<State, Draft extends TaskDraft> {
  /** Templates in the notation of `createPromptTemplates`. Leave it out if each draft has its own prompt. */
  templates?: readonly string[]
  /** Further templates in the same notation, for three quarters of the training tasks. No other split has them. */
  trainingTemplates?: readonly string[]
  /**
   * Templates of the split `unseen-paraphrase`, with the same placeholders, by what is new in them. Each group gets as many
   * tasks, and the task's `context.unseen` names it. A list is one group, without a name.
   */
  unseen?: readonly string[] | Readonly<Record<string, readonly string[]>>
  /** See `Task`. */
  solutions?: 'one' | 'several'
  /** See `Task`. */
  chance?: number
  draft: (state: State, draw: Draw) => Draft
}

export interface TaskSourceSettings<State, Draft extends TaskDraft, Extra extends object> {
  /** Name of the environment; task ids start with it. */
  name: string
  kinds: Readonly<Record<string, TaskKind<State, Draft>>>
  /** Draws the initial state. A draft may still change it. */
  state: (draw: Draw) => State
  /**
   * How tasks are divided between splits. `hash`: by the hash of the task's key; tasks of another split are drawn
   * again. `own`: `state` and `draft` themselves draw different tasks for each split. Default: `hash`.
   */
  splits?: 'hash' | 'own'
  /** Fields of a task beyond those of `Task`. */
  extra: (state: State, draft: Draft) => Extra
}

/** A source of tasks with the prompt templates of its kinds. */
export interface KindTaskSource<T extends Task> extends TaskSource<T> {
  readonly templates: Readonly<Record<string, PromptTemplates>>
}

const mostDraws = 1000
/** Share of the training tasks whose prompts are of `trainingTemplates`. */
const shareOfFurther = 0.75

/**
 * Makes a source of tasks by split, seed and kind. The same three give the same task. Without a kind, seed s gives kind
 * `s % kinds`, so that consecutive seeds cover all kinds.
 *
 * Splits share no prompt template. A hash divides tasks into train (70%), validation (12%) and test (18%).
 * `unseen-paraphrase` has test tasks in templates with words that training lacks.
 *
 * @throws AgogeError `empty-split` if a kind has no task in a split; `unknown-kind`.
 */
export function createTaskSource<State, Draft extends TaskDraft, Extra extends object>(
  settings: TaskSourceSettings<State, Draft, Extra>,
): KindTaskSource<Task & Extra> {
  const { name, kinds, splits = 'hash', extra } = settings
  const names = Object.keys(kinds)
  const templates = Object.fromEntries(
    names.map((kind) => [kind, createPromptTemplates(kind, kinds[kind].templates ?? [])]),
  )
  const more = Object.fromEntries(
    names.map((kind) => [kind, createPromptTemplates(kind, kinds[kind].trainingTemplates ?? [])]),
  )

  /** Returns undefined if the draw belongs to another split. */
  function drawTask(split: Task['split'], seed: number, kind: string, attempt: number) {
    const part = wordSplit(split)
    const random = createRandom(seed, name, splitKey(split), kind, ...(attempt === 0 ? [] : [attempt]))
    const draw: Draw = { random, split, seed, kind, words: wordLists(part) }
    const state = settings.state(draw)
    const draft = kinds[kind].draft(state, draw)
    if (splits === 'hash' && splitOfTask(name, kind, keyOf(draft, state)) !== part) return undefined
    const { prompt, template, unseen } = promptOf(draft, kind, split, random)
    const task: Task = {
      id: `${name}/${split}/${kind}/${seed}`,
      kind,
      seed,
      split,
      prompt,
      difficulty: draft.difficulty,
      context: { ...draft.context, ...defined({ unseen }) },
      plan: draft.plan,
      ...defined({ template, solutions: kinds[kind].solutions, chance: kinds[kind].chance }),
    }
    const added = extra(state, draft)
    // What the environment says of a task stands beside what is said here.
    return { ...task, ...added, context: { ...Object(Reflect.get(added, 'context')), ...task.context } }
  }

  function promptOf(draft: Draft, kind: string, split: Task['split'], random: Random): Prompt {
    if (draft.prompt !== undefined) return { prompt: draft.prompt }
    const { holes = {} } = draft
    if (split === 'unseen-paraphrase') {
      const groups = unseenGroups(kinds[kind])
      if (groups.length === 0) throw emptySplit(name, kind, split, 'unseen')
      const { unseen, texts } = groups.length === 1 ? groups[0] : random.pick(groups)
      return { ...filled(random.pick(texts), holes), ...defined({ unseen }) }
    }
    const further = split === 'train' ? more[kind].all : []
    if (further.length > 0 && random.next() < shareOfFurther)
      return filled(pickOfPattern(further, random), holes)
    const known = templates[kind].of(split)
    if (known.length === 0) throw emptySplit(name, kind, split, 'templates')
    return filled(random.pick(known.map((template) => template.text)), holes)
  }

  function task({ split, seed, kind }: { split: Task['split']; seed: number; kind?: string }): Task & Extra {
    const wanted = kind ?? names[((seed % names.length) + names.length) % names.length]
    if (!Object.hasOwn(kinds, wanted)) {
      throw new AgogeError(`${name} has no kind of task "${wanted}"`, {
        code: 'unknown-kind',
        given: wanted,
        expected: `one of ${names.join(', ')}`,
      })
    }
    for (let attempt = 0; attempt < mostDraws; attempt++) {
      const drawn = drawTask(split, seed, wanted, attempt)
      if (drawn !== undefined) return drawn
    }
    throw emptySplit(name, wanted, split, 'tasks')
  }

  return {
    kinds: names,
    templates,
    task,
    ...(splits === 'hash' ? { heldOut: distinctTasks(names, kinds, task) } : {}),
  }
}

// Disjoint from the seeds that training draws.
const firstSeed = 4_000_000

/**
 * Lists the first distinct tasks of a split, cycling through the kinds. After a hundred repeats in a row a kind counts
 * as exhausted.
 */
function distinctTasks<State, Draft extends TaskDraft, T extends Task>(
  names: readonly string[],
  kinds: Readonly<Record<string, TaskKind<State, Draft>>>,
  task: TaskSource<T>['task'],
): (split: Task['split'], count: number) => T[] {
  return (split, count) => {
    const going = new Set(
      names.filter((kind) => split !== 'unseen-paraphrase' || unseenGroups(kinds[kind]).length > 0),
    )
    const next = new Map(names.map((kind) => [kind, firstSeed * names.length]))
    const seen = new Set<string>()
    const found: T[] = []
    while (going.size > 0 && found.length < count)
      for (const kind of going) {
        if (found.length === count) break
        const fresh = nextDistinct(kind)
        if (fresh === undefined) going.delete(kind)
        else found.push(fresh)
      }
    return found

    function nextDistinct(kind: string): T | undefined {
      for (let repeats = 0; repeats < 100; repeats++) {
        const seed = next.get(kind) ?? 0
        next.set(kind, seed + 1)
        const drawn = task({ split, seed, kind })
        const same = plainText([drawn.kind, drawn.prompt, 'start' in drawn ? drawn.start : undefined])
        if (seen.has(same)) continue
        seen.add(same)
        return drawn
      }
      return undefined
    }
  }
}

const filled = (template: string, holes: Readonly<Record<string, string>>): Prompt => ({
  prompt: fillTemplate(template, holes),
  template,
})

interface Prompt {
  prompt: string
  /** Absent if the draft has its own prompt. */
  template?: string
  /** The group of templates, of those in `unseen`. */
  unseen?: string
}

/** The groups of `unseen` that have templates. */
function unseenGroups<State, Draft extends TaskDraft>({
  unseen = [],
}: TaskKind<State, Draft>): { unseen?: string; texts: readonly string[] }[] {
  const groups = isList(unseen)
    ? [{ texts: unseen }]
    : Object.entries(unseen).map(([unseen, texts]) => ({ unseen, texts }))
  return groups.filter(({ texts }) => texts.length > 0)
}

/** `Array.isArray` does not narrow a readonly list. */
const isList = (value: readonly string[] | object): value is readonly string[] => Array.isArray(value)

/** Every pattern is as likely as another, however many templates it makes. */
function pickOfPattern(templates: readonly PromptTemplate[], random: Random): string {
  const pattern = random.int(templates[templates.length - 1].pattern + 1)
  return random.pick(templates.filter((template) => template.pattern === pattern)).text
}

/** The split whose words and tasks are used. */
const wordSplit = (split: Task['split']): WordSplit => (split === 'unseen-paraphrase' ? 'test' : split)

function keyOf({ key, holes = {}, prompt }: TaskDraft, state: unknown): string {
  if (key !== undefined) return key
  const named = Object.entries(holes).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return plainText(named.length > 0 ? named : (prompt ?? state))
}

/** Plain data as text, including maps and sets. */
export const plainText = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    part instanceof Map || part instanceof Set ? [...(part as Iterable<unknown>)] : part,
  )

/** Returns the split of a task by the hash of its key: 70% train, 12% validation, 18% test. */
function splitOfTask(environment: string, kind: string, key: string): WordSplit {
  const share = hash32('task-split', environment, kind, key) / 2 ** 32
  return share < 0.7 ? 'train' : share < 0.82 ? 'validation' : 'test'
}

const lacking = {
  tasks: {
    given: `${mostDraws} draws, all of other splits`,
    expected: 'more different tasks',
    hint: 'Draw names from `words`, numbers from a wider range, or from longer lists of your own',
  },
  templates: {
    given: 'no prompt template of this split',
    expected: 'templates with at least two places of choice, of which each split gets compositions',
    hint: 'Write alternatives: [Add|Put] <item> [on|to] my list',
  },
  unseen: { given: 'no templates in `unseen`', expected: 'at least one', hint: 'Word them otherwise' },
} as const

function emptySplit(name: string, kind: string, split: string, lacks: keyof typeof lacking): AgogeError {
  return new AgogeError(`The kind "${kind}" of ${name} has no task of the split ${split}`, {
    code: 'empty-split',
    ...lacking[lacks],
  })
}
