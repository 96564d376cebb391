import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { teach } from '../testbeds/students/students.ts'
import type { Past, Teaching } from '../testbeds/students/students.ts'

/** The past student who did best among the `count` whose first test was nearest. */
const nearest = (students: readonly Past[], test: Float64Array, count: number): Past => {
  const distance = (past: Past): number =>
    past.test.reduce((sum, value, task) => sum + (value - test[task]) ** 2, 0)
  const near = students.toSorted((a, b) => distance(a) - distance(b)).slice(0, count)
  return near.reduce((best, past) => (past.mastered > best.mastered ? past : best))
}

type Choice = 'nearest' | 'any' | 'none'
type Settings = Pick<Teaching, 'replay' | 'explore'>

/** New students, who are taught with what is known of past ones. */
function taught({ seed, budget }: ArmRun, choice: Choice, settings: Settings): ArmResult {
  const scratch = { explore: 0.02 }
  const students =
    choice === 'none'
      ? []
      : Array.from({ length: budget.past }, (_, k) => teach(`${seed}/past ${k}`, budget.episodes, scratch))
  const random = createRandom('past', seed)
  const past = (test: Float64Array): Past | undefined =>
    choice === 'none' ? undefined : choice === 'any' ? random.pick(students) : nearest(students, test, 3)
  const each = Array.from({ length: budget.students }, (_, k) =>
    teach(`${seed}/new ${k}`, budget.episodes, { ...settings, past }),
  )
  return {
    score: 100 * average(each.map(({ mastered }) => mastered)),
    measures: {
      guided: average(each.map(({ guided }) => guided)),
      followed: average(each.map(({ followed }) => followed)),
      past: students.length === 0 ? 0 : 100 * average(students.map(({ mastered }) => mastered)),
    },
  }
}

/** The best shares of random tasks on seeds 201 to 220, of 0, 0.01, 0.02, 0.05 and 0.1; 0 to 0.02 are alike for all. */
const explore = 0.02

export default definePaper({
  id: 'again',
  title: 'Meta Automatic Curriculum Learning',
  theme: 'curriculum-autorl',
  claim:
    'For a new student, mixing the curriculum of a past student who did alike in a first test with one by own learning progress masters more tasks than either alone, than the curriculum of any past student, and than random tasks.',
  arms: {
    again: (run) => taught(run, 'nearest', { explore }),
    'own-progress': (run) => taught(run, 'none', { explore }),
    'replay-nearest': (run) => taught(run, 'nearest', { explore, replay: true }),
    'any-past': (run) => taught(run, 'any', { explore }),
    random: (run) => taught(run, 'none', { explore: 1 }),
  },
  metric: 'percent of the tasks within reach that a new student masters in 1500 episodes, mean over students',
  pairing: 'seed',
  effect: { better: 'again', than: ['own-progress', 'replay-nearest', 'any-past', 'random'], atLeast: 5 },
  checks: [
    {
      about: 'a past student decides part of the tasks',
      arm: 'again',
      of: 'guided',
      atLeast: 0.2,
      atMost: 0.8,
    },
    { about: 'the new student goes through that curriculum', arm: 'again', of: 'followed', atLeast: 0.4 },
    {
      about: 'the curriculum of any past student does not fit',
      arm: 'any-past',
      of: 'followed',
      atMost: 0.35,
    },
    { about: 'past students have mastered tasks', arm: 'again', of: 'past', atLeast: 30 },
  ],
  control: { positive: { better: 'own-progress', than: 'random', atLeast: 5 } },
  budget: { episodes: 1500, past: 32, students: 4 },
  quick: { episodes: 500, past: 2, students: 1 },
  simplifications: [
    'students whose competence in a task grows by practice, as in the toy environment of the paper, stand for learners of motor skills',
    'learning progress of a hundred tasks and their neighbours stands for a mixture of Gaussians over a continuous space',
    'the mixture draws by own progress and by that recorded of the past student, in proportion',
  ],
})
