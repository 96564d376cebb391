import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ArmName, Mixture } from './arms.ts'
import type { SettingName } from './settings.ts'

/** Success on each test task, in the order of the tasks: `1`, `0`, or `-` if it could not be judged. */
export interface TestResults {
  known: string
  paraphrased: string
  heldOutKinds: string
}

/** Kind and template of each test task, in the order of the tasks. Templates are numbered by their hash. */
export type TestUnits = Record<keyof TestResults, string[]>

export interface Cost {
  computedTokens: number
  calls: number
  minutes: number
  /** Of this process; null if the piece was resumed. */
  cpuMinutes: number | null
}

/** The warm start of a seed, which all its arms begin with. */
export interface WarmPiece {
  piece: 'warm-start'
  setting: SettingName
  seed: number
  /** Demonstrations per kind. */
  shown: number
  units: TestUnits
  results: TestResults
  /** Success in validation, and by kind of task. */
  validation: number
  kinds: Record<string, number>
  cost: Cost
}

export interface ArmPiece {
  piece: 'arm'
  setting: SettingName
  seed: number
  arm: ArmName
  mixture: Mixture
  learningRate: number
  /** Steps of all phases. */
  steps: number
  /** Tokens of the budget and success at each validation. */
  validations: { computedTokens: number; success: number }[]
  results: TestResults
  cost: Cost
}

/** How a setting was chosen on tuning seeds. Nothing of it is reported as a result. */
export interface TuningPiece extends Omit<ArmPiece, 'piece' | 'results' | 'mixture'> {
  piece: 'tuning'
}

export interface WarmTuning extends Omit<WarmPiece, 'piece' | 'results' | 'units'> {
  piece: 'warm-tuning'
}

export type Piece = WarmPiece | ArmPiece | TuningPiece | WarmTuning

let folder = fileURLToPath(new URL('../../docs/results/comparison/', import.meta.url))

/** Reads and stores pieces elsewhere, for runs that are not of the study. */
export function storeIn(other: string): void {
  folder = other
}

/** What tells a piece from others. */
export type PieceKey =
  | Pick<WarmPiece, 'piece' | 'setting' | 'seed'>
  | Pick<WarmTuning, 'piece' | 'setting' | 'seed' | 'shown'>
  | Pick<TuningPiece, 'piece' | 'setting' | 'seed' | 'arm' | 'learningRate'>
  | Pick<ArmPiece, 'piece' | 'setting' | 'seed' | 'arm' | 'mixture'>

/** The name of a piece's file. */
export function nameOf(piece: PieceKey): string {
  switch (piece.piece) {
    case 'warm-start':
      return `${piece.setting}-${piece.seed}-warm-start`
    case 'warm-tuning':
      return `${piece.setting}-${piece.seed}-warm-start-${piece.shown}`
    case 'tuning':
      return `${piece.setting}-${piece.seed}-${piece.arm}-${piece.learningRate}`
    case 'arm':
      return `${piece.setting}-${piece.seed}-${piece.arm}-${piece.mixture}`
  }
}

export function readPieces(): Piece[] {
  if (!existsSync(folder)) return []
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  return files.sort().map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Piece)
}

export function hasPiece(piece: PieceKey): boolean {
  return existsSync(join(folder, `${nameOf(piece)}.json`))
}

/** Stores a piece. Its numbers have as many digits as they mean. */
export function storePiece(piece: Piece): void {
  mkdirSync(folder, { recursive: true })
  const rounded = (_: string, value: unknown): unknown =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value
  writeFileSync(join(folder, `${nameOf(piece)}.json`), `${JSON.stringify(piece, rounded, 1)}\n`)
}
