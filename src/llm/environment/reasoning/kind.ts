import { hash32, type Random } from '../../../engine/random/index.ts'
import { AgogeError } from '../../../error.ts'
import { createPromptTemplates, fillTemplate, type PromptTemplates } from '../definition/prompt-templates.ts'

/** A difficulty control: a whole number in a range, ends included. */
interface Knob {
  least: number
  most: number
  about: string
}

/** A value for every control of a family. */
export type Difficulty<Name extends string = string> = Readonly<Record<Name, number>>

type ReasoningSplit = 'train' | 'validation' | 'test'

/** One instance of a kind: what fills the prompt template, the oracle's way and answer, and the check of an answer. */
export interface Puzzle {
  /** Names what is asked: two questions that ask the same have the same key, and a question determines its key. */
  key: string
  /** What stands in the holes of the templates. */
  holes: Readonly<Record<string, string>>
  /** The oracle's steps in few words, one a line; may be empty. */
  thought: readonly string[]
  /** The oracle's answer; it scores 1. Others may too. */
  answer: string
  /** Worth of a bare answer, in [0, 1]: 1 = right, 0 = worth nothing, between = a part is right. Never throws. */
  score: (answer: string) => number
}

/** A question with its check. */
export interface Problem {
  kind: string
  question: string
  /** See `Puzzle`; it decides the split. */
  key: string
  difficulty: Difficulty
  /** The oracle: its steps, its answer, and both as a reply to learn from. */
  solve: () => { thought: readonly string[]; answer: string; text: string }
  /**
   * Worth of a reply in [0, 1]; 1 = right. A thought may stand before the answer; spaces, a full stop, quotes, "the answer is",
   * `<answer>` tags and `\boxed{}` around it do not count. Never throws.
   */
  verify: (reply: string) => number
}

/** A reply is read from its end; more than this of it is not looked at. */
const longestRead = 8000

const marker = /\banswer(?:\s+is)?\s*[:=]?/gi

/**
 * What a reply gives as its answer: the inside of the last `<answer>` or `\boxed{}`, or what follows the last "answer is" or
 * "Answer:". Without any of these it may be the whole reply or its last line.
 */
function finalAnswers(reply: string): string[] {
  const text = reply.slice(-longestRead)
  const tagged = between(text, '<answer>', '</answer>') ?? between(text, '\\boxed{', '}')
  if (tagged !== undefined) return [bare(tagged)]
  const marked = [...text.matchAll(marker)].at(-1)
  if (marked !== undefined) return [bare(text.slice(marked.index + marked[0].length))]
  const whole = bare(text)
  const last = bare(whole.slice(whole.lastIndexOf('\n') + 1))
  return whole === last ? [whole] : [whole, last]
}

/** What stands between the last opening and the closing after it; undefined where there is no such pair. */
function between(text: string, open: string, close: string): string | undefined {
  const from = text.lastIndexOf(open)
  if (from < 0) return undefined
  const to = close === '}' ? text.lastIndexOf(close) : text.toLowerCase().indexOf(close, from + open.length)
  return to < from + open.length ? undefined : text.slice(from + open.length, to)
}

/** Without spaces, quotes, emphasis and a full stop around it, and with single spaces within its lines. */
function bare(text: string): string {
  return text
    .trim()
    .replace(/^[\s"'`*$“”]+/, '')
    .replace(/[\s"'`*$“”.!]+$/, '')
    .replaceAll(/[ \t\r]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
}

/** What a kind is made of; `Instance` is whatever its file finds handy. */
interface KindDefinition<Instance, Name extends string> {
  name: string
  /** What is asked, in one line. */
  about: string
  knobs: Readonly<Record<Name, Knob>>
  /** Presets from easy to hard. */
  levels: readonly Difficulty<Name>[]
  /** Prompt templates in the notation of `createPromptTemplates`. */
  templates: readonly string[]
  /** Templates from other words, with the same holes. */
  unseen: readonly string[]
  draw: (random: Random, difficulty: Difficulty<Name>) => Instance
  /** The question, the oracle and the check of an instance; no chance in it. */
  pose: (instance: Instance) => Puzzle
}

/** A kind of question, generated and checked by program. */
export interface ReasoningKind {
  readonly name: string
  readonly about: string
  readonly knobs: Readonly<Record<string, Knob>>
  readonly levels: readonly Difficulty[]
  readonly templates: PromptTemplates
  readonly unseen: readonly string[]
  /** Draws an instance, of whichever split. @throws AgogeError where a knob is unknown, missing or outside its range. */
  draw: (random: Random, difficulty: Difficulty) => Puzzle
  /**
   * A problem of the split (default `train`) at a level from 1 on, or at a difficulty of one's own; the same stream of
   * chance gives the same problem.
   *
   * @throws AgogeError where the difficulty is impossible, or too narrow to have an instance in the split.
   */
  generate: (
    random: Random,
    difficulty: number | Difficulty,
    split?: ReasoningSplit | 'unseen-wording',
  ) => Problem
}

/** Draws before a difficulty counts as having no instance in a split; validation has 12% of the instances. */
const mostDraws = 1000

/** Makes a kind of its definition; `pose` stays at hand for instances of one's own. */
export function defineKind<Instance, Name extends string>(
  definition: KindDefinition<Instance, Name>,
): ReasoningKind & { pose: (instance: Instance) => Puzzle } {
  const { name, about, knobs, levels, unseen, pose } = definition
  const templates = createPromptTemplates(`reasoning/${name}`, definition.templates)

  function draw(random: Random, difficulty: Difficulty): Puzzle {
    checkDifficulty(name, knobs, difficulty)
    return pose(definition.draw(random, difficulty))
  }

  function generate(
    random: Random,
    wanted: number | Difficulty,
    paraphrase: ReasoningSplit | 'unseen-wording' = 'train',
  ): Problem {
    const difficulty = typeof wanted === 'number' ? levelOf(name, levels, wanted) : wanted
    const split = paraphrase === 'unseen-wording' ? 'test' : paraphrase
    const puzzle = drawOfSplit(() => draw(random, difficulty), name, split)
    const text = paraphrase === 'unseen-wording' ? random.pick(unseen) : templates.draw(split, random).text
    const { key, thought, answer } = puzzle
    return {
      kind: name,
      question: fillTemplate(text, puzzle.holes),
      key,
      difficulty,
      solve: () => ({
        thought,
        answer,
        text: [...thought, `Answer: ${answer}`].join('\n'),
      }),
      verify: (reply) => Math.max(0, ...finalAnswers(reply).map((answer) => puzzle.score(answer))),
    }
  }

  return { name, about, knobs, levels, templates, unseen, draw, generate, pose }
}

/**
 * The split in which an instance is asked, by the hash of its key alone: 70% train, 12% validation, 18% test. Since a
 * question tells its key, no question is in two splits, however many are drawn.
 */
export function splitOfKey(kind: string, key: string): ReasoningSplit {
  const share = hash32('reasoning-split', kind, key) / 2 ** 32
  return share < 0.7 ? 'train' : share < 0.82 ? 'validation' : 'test'
}

function drawOfSplit(draw: () => Puzzle, kind: string, split: ReasoningSplit): Puzzle {
  for (let i = 0; i < mostDraws; i++) {
    const puzzle = draw()
    if (splitOfKey(kind, puzzle.key) === split) return puzzle
  }
  throw new AgogeError(`${kind} has no question of the split ${split} at this difficulty`, {
    code: 'bad-difficulty',
    given: split,
    expected: 'a difficulty with more different questions',
  })
}

function levelOf(kind: string, levels: readonly Difficulty[], level: number): Difficulty {
  const preset = levels[level - 1]
  if (preset !== undefined) return preset
  throw new AgogeError(`${kind} has no level ${level}`, {
    code: 'bad-difficulty',
    given: level,
    expected: `a whole number from 1 to ${levels.length}`,
  })
}

function checkDifficulty(kind: string, knobs: Readonly<Record<string, Knob>>, difficulty: Difficulty): void {
  for (const name of Object.keys(difficulty)) {
    if (Object.hasOwn(knobs, name)) continue
    throw new AgogeError(`${kind} has no difficulty control "${name}"`, {
      code: 'bad-difficulty',
      given: name,
      expected: `one of ${Object.keys(knobs).join(', ')}`,
    })
  }
  for (const [name, { least, most }] of Object.entries(knobs)) {
    const value = difficulty[name]
    if (Number.isInteger(value) && value >= least && value <= most) continue
    throw new AgogeError(`${kind} cannot be asked with ${name} = ${value}`, {
      code: 'bad-difficulty',
      given: value,
      expected: `a whole number from ${least} to ${most}`,
    })
  }
}
