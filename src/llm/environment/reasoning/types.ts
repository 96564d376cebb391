/** A difficulty control: a whole number in a range, ends included. */
export interface Knob {
  least: number
  most: number
  about: string
}

/** A value for every control of a family. */
export type Difficulty<Name extends string = string> = Readonly<Record<Name, number>>

export type ReasoningSplit = 'train' | 'validation' | 'test'

/** One instance of a family: what fills the wording, the oracle's way and answer, and the check of an answer. */
export interface Puzzle {
  /** Names what is asked: two questions that ask the same have the same key, and a question determines its key. */
  key: string
  /** What stands in the holes of the wordings. */
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
