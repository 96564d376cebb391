import type { Lever } from '../lever.ts'
import { demonstrations } from './demonstrations.ts'
import { evolution } from './evolution.ts'
import { instructions } from './instructions.ts'
import { modelChoice } from './model-choice.ts'
import { playbook } from './playbook.ts'
import { rl } from './rl.ts'
import { sft } from './sft.ts'
import { testTime } from './test-time.ts'
import { toolDescriptions } from './tool-descriptions.ts'

/** The ways to improve an agent: first those whose setups cost about as much as the original, since what is found early makes the test dearer. */
export const levers: readonly Lever[] = [
  instructions,
  toolDescriptions,
  playbook,
  evolution,
  modelChoice,
  demonstrations,
  testTime,
  sft,
  rl,
]
