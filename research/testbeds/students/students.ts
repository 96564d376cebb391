import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'

const side = 10
const tasks = side * side
const neighbours = each(tasks).map((task) => {
  const [x, y] = [task % side, Math.floor(task / side)]
  return each(tasks).filter(
    (other) => Math.abs((other % side) - x) + Math.abs(Math.floor(other / side) - y) === 1,
  )
})

/** Number of feasible tasks that neighbours connect with the first one. */
function reachable(start: number, feasible: readonly boolean[]): number {
  const found = new Set([start])
  for (const task of found) for (const next of neighbours[task]) if (feasible[next]) found.add(next)
  return found.size
}

/**
 * A student whose competence in a task grows by practice, but only next to tasks that it has mastered: the procedural students of
 * Portelas et al. 2020 (arXiv:2011.08463).
 */
function createStudent(seed: string) {
  const random = createRandom('student', seed)
  const start = random.pick([0, side - 1, tasks - side, tasks - 1])
  // It can never learn the tasks beyond its reach, which differs between students.
  const reach = 8 + 6 * random.next()
  const wall = random.int(tasks)
  const distance = (a: number, b: number): number =>
    Math.abs((a % side) - (b % side)) + Math.abs(Math.floor(a / side) - Math.floor(b / side))
  const feasible = each(tasks).map(
    (task) => task === start || (distance(task, start) <= reach && distance(task, wall) > 1),
  )
  const open = each(tasks).map((task) => task === start)
  const competence = new Float64Array(tasks)
  const mastered = (task: number): boolean => competence[task] >= 0.75
  return {
    /** Share of the tasks that it could come to that it has mastered. */
    mastered: () => each(tasks).filter(mastered).length / reachable(start, feasible),
    /** Practises a task; returns the reward, which is the competence with noise. */
    practise(task: number, noise: Random): number {
      if (open[task]) {
        competence[task] = Math.min(1, competence[task] + 0.06)
        if (mastered(task)) for (const next of neighbours[task]) open[next] ||= feasible[next]
      }
      return competence[task] + 0.02 * noise.normal()
    },
  }
}

/** Probabilities of tasks by stages of a curriculum, with the reward that the student had in each. */
interface Stage {
  chances: Float64Array
  /** Sum of the progress of all tasks. */
  progress: number
  reward: number
}
/** What is remembered of a student: rewards of a first test by task, its curriculum, and how far it got. */
export interface Past {
  test: Float64Array
  stages: Stage[]
  mastered: number
}

/** Learning progress of tasks: how far two averages of their rewards, a fast and a slow one, are apart. */
function progress() {
  const [fast, slow] = [new Float64Array(tasks), new Float64Array(tasks)]
  return {
    add(task: number, reward: number): void {
      fast[task] += 0.4 * (reward - fast[task])
      slow[task] += 0.1 * (reward - slow[task])
    },
    /** Probabilities: progress of a task and its neighbours, above what noise gives. */
    chances(): Pick<Stage, 'chances' | 'progress'> {
      const own = fast.map((value, task) => Math.max(0, Math.abs(value - slow[task]) - 0.02))
      const spread = own.map(
        (value, task) => value + 0.5 * average(neighbours[task].map((next) => own[next])),
      )
      const progress = spread.reduce((a, b) => a + b, 0)
      return { progress, chances: spread.map((value) => (progress > 0 ? value / progress : 1 / tasks)) }
    },
  }
}

const testLength = 300
const stageLength = 50
/** Episodes of a past student's stage after which their reward is compared. */
const windowLength = 10
/** How tasks are chosen after the test: by own progress, by the curriculum of a past student, or by both. */
export interface Teaching {
  /** Only the past student decides. Default: own progress and that of the past student have weights that are proportional to them. */
  replay?: boolean
  past?: (test: Float64Array) => Past | undefined
  /** Share of tasks that are drawn at random. */
  explore: number
}

/** Teaches a new student for so many episodes, of which the first test it on random tasks. */
export function teach(
  seed: string,
  episodes: number,
  { replay = false, past, explore }: Teaching,
): Past & { guided: number; followed: number } {
  const random = createRandom('teacher', seed)
  const student = createStudent(seed)
  const record = progress()
  const test = new Float64Array(tasks)
  for (let k = 0; k < testLength; k++) {
    const task = random.int(tasks)
    const reward = student.practise(task, random)
    record.add(task, reward)
    test[task] = reward
  }
  const guide = past?.(test)
  const stages: Stage[] = []
  let [at, guided, sum, count] = [0, 0, 0, 0]
  for (let k = testLength; k < episodes; k += stageLength) {
    const { chances, progress } = record.chances()
    let total = 0
    for (let i = 0; i < stageLength; i++) {
      const theirs = guide?.stages[at]?.progress ?? 0
      const follows =
        guide !== undefined && theirs > 0 && (replay || random.next() * (theirs + progress) < theirs)
      const from = follows ? guide.stages[at].chances : chances
      const task = random.next() < explore ? random.int(tasks) : random.weighted(from)
      const reward = student.practise(task, random)
      record.add(task, reward)
      total += reward
      if (!follows) continue
      guided++
      sum += reward
      count++
      // On to the next stage of the past student once the reward is as high as that one's.
      if (count < windowLength) continue
      if (sum / count >= guide.stages[at].reward) at = Math.min(at + 1, guide.stages.length - 1)
      sum = 0
      count = 0
    }
    // A stage without progress is left out of the curriculum.
    if (Math.max(...chances) > 3 / tasks) stages.push({ chances, progress, reward: total / stageLength })
  }
  return {
    test,
    stages,
    mastered: student.mastered(),
    guided: guided / (episodes - testLength),
    followed: guide ? at / Math.max(1, guide.stages.length - 1) : 0,
  }
}
