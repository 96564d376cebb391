import { AgogeError } from '../../../error.ts'
import { hash32 } from '../../../engine/random/index.ts'
import type { Random } from '../../../engine/random/index.ts'
import { createPromptTemplates, fillTemplate } from '../definition/prompt-templates.ts'
import type { PromptTemplates } from '../definition/prompt-templates.ts'
import { finalAnswers } from './final-answer.ts'
import type { Difficulty, Knob, Problem, Puzzle, ReasoningSplit } from './types.ts'

/** What a family is made of; `Instance` is whatever its file finds handy. */
export interface KindDefinition<Instance, Name extends string> {
  name: string
  /** What is asked, in one line. */
  about: string
  knobs: Readonly<Record<Name, Knob>>
  /** Presets from easy to hard. */
  levels: readonly Difficulty<Name>[]
  /** Wordings in the notation of `createPromptTemplates`. */
  templates: readonly string[]
  /** Wordings from outside the grammar, with the same holes. */
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

/** Makes a family of its definition; `pose` stays at hand for instances of one's own. */
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
