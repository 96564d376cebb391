import { hash32 } from '../../../engine/random/index.ts'
import type { Random } from '../../../engine/random/index.ts'
import { AgogeError } from '../../../error.ts'
import { createPromptTemplates, fillTemplate } from '../definition/prompt-templates.ts'
import type { PromptTemplates } from '../definition/prompt-templates.ts'

/** A difficulty control: a whole number in a range, both ends included. */
interface Knob {
  least: number
  most: number
  about: string
}

/** A value for every control of a kind. */
export type Difficulty<Name extends string = string> = Readonly<Record<Name, number>>

type ReasoningSplit = 'train' | 'validation' | 'test'

/**
 * One instance of a kind: the values for the prompt template, the oracle's steps and answer, and the check of an
 * answer.
 */
export interface Puzzle {
  /**
   * Identifies the question. Two questions that ask the same have the same key, and the question determines its key.
   */
  key: string
  /** Values for the placeholders of the templates. */
  holes: Readonly<Record<string, string>>
  /** The oracle's steps in a few words, one per line. May be empty. */
  thought: readonly string[]
  /** The oracle's answer. It scores 1; other answers may too. */
  answer: string
  /** Scores a bare answer in [0, 1]: 1 = right, 0 = wrong, between = partly right. Never throws. */
  score: (answer: string) => number
}

/** A question with its check. */
export interface Problem {
  kind: string
  question: string
  /** See `Puzzle`. Its hash decides the split. */
  key: string
  difficulty: Difficulty
  /** The oracle's steps and answer, and both as a reply to learn from. */
  solve: () => { thought: readonly string[]; answer: string; text: string }
  /**
   * Scores a reply in [0, 1]; 1 = right. Reasoning may precede the answer. Spaces, a full stop, quotes, "the answer
   * is", `<answer>` tags and `\boxed{}` around it are ignored. Never throws.
   */
  verify: (reply: string) => number
}

/** Only this many characters at the end of a reply are read. */
const longestRead = 8000

const marker = /\banswer(?:\s+is)?\s*[:=]?/gi

/**
 * Returns the possible final answers of a reply: the inside of the last `<answer>` or `\boxed{}`, or the text after the
 * last "answer is" or "Answer:". Without any of these, the whole reply or its last line.
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

/** The text between the last opening mark and the closing mark after it; undefined if there is no such pair. */
function between(text: string, open: string, close: string): string | undefined {
  const from = text.lastIndexOf(open)
  if (from < 0) return undefined
  const to = close === '}' ? text.lastIndexOf(close) : text.toLowerCase().indexOf(close, from + open.length)
  return to < from + open.length ? undefined : text.slice(from + open.length, to)
}

/** Strips spaces, quotes, emphasis and a full stop around the text, and collapses spaces within its lines. */
function bare(text: string): string {
  return text
    .trim()
    .replace(/^[\s"'`*$“”]+/, '')
    .replace(/(?<![\s"'`*$“”.!])[\s"'`*$“”.!]+$/, '')
    .replaceAll(/[ \t\r]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
}

/** Definition of a kind. `Instance` is any type that suits the kind. */
interface KindDefinition<Instance, Name extends string> {
  name: string
  /** One line on what is asked. */
  about: string
  knobs: Readonly<Record<Name, Knob>>
  /** Presets from easy to hard. */
  levels: readonly Difficulty<Name>[]
  /** Prompt templates in the notation of `createPromptTemplates`. */
  templates: readonly string[]
  /** Templates with other words and the same placeholders. */
  unseen: readonly string[]
  draw: (random: Random, difficulty: Difficulty<Name>) => Instance
  /** Makes the question, the oracle and the check of an instance. Deterministic. */
  pose: (instance: Instance) => Puzzle
}

/** A kind of question that a program generates and checks. */
export interface ReasoningKind {
  readonly name: string
  readonly about: string
  readonly knobs: Readonly<Record<string, Knob>>
  readonly levels: readonly Difficulty[]
  readonly templates: PromptTemplates
  readonly unseen: readonly string[]
  /**
   * Draws an instance of any split.
   *
   * @throws AgogeError if a control is unknown, missing or outside its range.
   */
  draw: (random: Random, difficulty: Difficulty) => Puzzle
  /**
   * Generates a problem of the split (default: `train`) at a level from 1 on, or at a difficulty of your own. The same
   * random stream gives the same problem.
   *
   * @throws AgogeError if the difficulty is impossible, or too narrow for an instance in the split.
   */
  generate: (
    random: Random,
    difficulty: number | Difficulty,
    split?: ReasoningSplit | 'unseen-paraphrase',
  ) => Problem
}

/** After so many failed draws a difficulty counts as empty in a split. Validation has 12% of the instances. */
const mostDraws = 1000

/** Makes a kind from its definition. `pose` is exposed for instances of your own. */
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
    paraphrase: ReasoningSplit | 'unseen-paraphrase' = 'train',
  ): Problem {
    const difficulty = typeof wanted === 'number' ? levelOf(name, levels, wanted) : wanted
    const split = paraphrase === 'unseen-paraphrase' ? 'test' : paraphrase
    const puzzle = drawOfSplit(() => draw(random, difficulty), name, split)
    const text = paraphrase === 'unseen-paraphrase' ? random.pick(unseen) : templates.draw(split, random).text
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
 * Returns the split of an instance by the hash of its key: 70% train, 12% validation, 18% test. A question determines
 * its key, so splits share no question.
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

/**
 * Parses the number that an answer gives: digits with a sign, a point or commas between thousands, optionally after "x
 * =" or before one of `units`. NaN for anything else.
 */
export function numberOf(answer: string, units: readonly string[] = []): number {
  const text = answer.toLowerCase().replaceAll('−', '-').trim()
  const unit = units.find((name) => text.endsWith(name) && !/[a-z]/.test(text.at(-name.length - 1) ?? ' '))
  const said = (unit === undefined ? text : text.slice(0, -unit.length)).trim().replace(/^[a-z]?\s*=\s*/, '')
  if (!/^[+-]?\s*(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?$/.test(said)) return Number.NaN
  return Number(said.replaceAll(/[,\s]/g, ''))
}

/** 1 for exactly this number, else 0. */
export const scoreNumber = (answer: string, wanted: number, units?: readonly string[]): number =>
  Math.abs(numberOf(answer, units) - wanted) < 1e-9 ? 1 : 0

/** 1 for this word (or line of words), ignoring case and an article before it; else 0. */
export const scoreWord = (answer: string, wanted: string): number =>
  answer.toLowerCase().replace(/^(?:an?|the) /, '') === wanted.toLowerCase() ? 1 : 0

/** The parts of a list, in lower case: "1, 2 and 3", "[1 2 3]", "1 -> 2 -> 3". */
export function itemsOf(answer: string): string[] {
  return answer
    .toLowerCase()
    .replaceAll(/[[\](){}]/g, ' ')
    .split(/[\s,;]+|->|→/)
    .filter((item) => item !== '' && item !== 'and')
}

/** Partial credit of a wrong answer with this share right: at most a half. */
export const partly = (share: number): number => 0.5 * Math.max(0, Math.min(1, share))

/** 1 for the list in this order; else half the share of correct places, relative to the longer list. */
export function scoreList(given: readonly string[], wanted: readonly string[]): number {
  const right = wanted.filter((item, i) => given[i] === item.toLowerCase()).length
  const length = Math.max(given.length, wanted.length)
  return right === length ? 1 : partly(right / length)
}

/** 1 for the same members in any order; else half the size of the intersection over the union. */
export function scoreSet(given: readonly string[], wanted: readonly string[]): number {
  const said = new Set(given)
  const members = new Set(wanted.map((item) => item.toLowerCase()))
  const shared = [...members].filter((item) => said.has(item)).length
  const either = members.size + said.size - shared
  return shared === either && given.length === said.size ? 1 : partly(shared / either)
}

/** Partial credit of several yes-or-no decisions. Guessing all of them scores 0 on average. */
export function scoreDecisions(right: number, all: number): number {
  return right === all ? 1 : partly((2 * right) / all - 1)
}
