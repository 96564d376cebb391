import * as answers from './answer-cases.ts'
import * as later from './later-cases.ts'
import type { JudgeCase } from './judge-case.ts'
import * as sessions from './session-cases.ts'
import * as states from './state-cases.ts'

/** All cases. They are older than the auditor that is measured on them. */
export const judgeCases: readonly JudgeCase[] = [answers, states, sessions].flatMap((cases) =>
  Object.values(cases),
)

/** Cases that were written after the auditor. */
export const laterCases: readonly JudgeCase[] = Object.values(later)
