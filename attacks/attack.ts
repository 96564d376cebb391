// What the parts of `npm run attack` share: an attack has a name, and it held or failed, with what happened.

/** What came of one attack. */
export interface AttackResult {
  /** What was attacked and how, unique within its part: "tools/list never ends". */
  name: string
  /** Whether what SECURITY.md promises was kept. */
  held: boolean
  /** What happened, in a sentence: the message that a user saw, or which promise was broken. */
  happened: string
  /** Longest section without a pause of the attacked process, in milliseconds of processor time. Undefined: not measured. */
  longestSection?: number
}

/** What a part does and found, as it is stored in `attacks/results`. */
export interface PartResult {
  part: string
  seed: number
  /** Numbers that say how much was tried: `{ inputs: 1000000, acceptedShare: 0.31 }`. */
  totals: Readonly<Record<string, number>>
  attacks: readonly AttackResult[]
}

export interface AttackOptions {
  /** Which random inputs, moments and places are drawn. */
  seed: number
  /** Does a share of the attacks, so that all parts together take five minutes on two cores. */
  quick: boolean
  /** An empty folder for what the part writes. It is removed afterwards. */
  folder: string
  /** Results of an earlier call with the same seed that was stopped. Attacks of these names need not be repeated. */
  done: readonly AttackResult[]
  /** Reports an attack as soon as it is over. It is printed and stored. */
  report: (result: AttackResult) => void
  signal: AbortSignal
}

export interface AttackPart {
  /** Its name on the command line. */
  name: string
  /** What it does, in a sentence. */
  about: string
  /** Runs the attacks. Returns the totals; the attacks themselves go to `report`. */
  run(options: AttackOptions): Promise<Readonly<Record<string, number>>>
}

/** The variable that main.ts sets to what `--slack` says. Threads see it too. */
export const slackVariable = 'AGOGE_ATTACK_SLACK'
const slack = (): number => Number(process.env[slackVariable] ?? 1)

/** Longest section without a pause that foreign input may cause, in milliseconds of processor time: 50 in an endpoint, 200 elsewhere. */
export const longestAllowed = {
  get endpoint(): number {
    return 50 * slack()
  },
  get elsewhere(): number {
    return 200 * slack()
  },
}
