// Not the index, which is for browsers too.
import { joinPartner } from '../../tensor/helper/partner-thread.ts'
import type { SacBoard, SacSizes } from './sac-board.ts'
import { createSacLearner } from './sac-learner.ts'
import type { SacLearnerState } from './sac-learner.ts'
import { asked } from './sac-team.ts'

await joinPartner(async (data, { meet, send, receive }) => {
  const { sizes, board } = data as { sizes: SacSizes; board: SacBoard }
  const learner = await createSacLearner(sizes, board, { rank: 1, of: 2, meet, threads: 1 })
  return (command) => {
    if (command >= 0) return learner.step(command)
    if (command === asked.save) send(learner.state())
    else learner.restore(receive() as SacLearnerState)
    meet()
  }
})
