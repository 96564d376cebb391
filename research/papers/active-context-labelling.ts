import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { atRandom, entropy, kCentre, mixture, type Select } from '../testbeds/few-shot/select.ts'
import { classes, drawTask, type Example, metaLearn, prototypes } from '../testbeds/few-shot/task.ts'

/** Accuracy of a prototype learner with the labels that were chosen, in the features that meta-learning has scaled; mean over tasks. */
function accuracy(select: Select, labels: number, { seed, budget }: ArmRun): ArmResult {
  const scales = metaLearn(createRandom(seed, 'training-tasks'), budget.trainingTasks)
  const scaled = ({ row, label }: Example): Example => ({
    label,
    row: row.map((value, i) => value * scales[i]),
  })
  const found = Array.from({ length: budget.tasks }, (_, index) => {
    const { pool, queries } = drawTask(createRandom(seed, 'task', index))
    const rows = pool.map((one) => scaled(one).row)
    const chosen = select(rows, labels, createRandom(seed, 'select', index), (at) => pool[at].label)
    const classify = prototypes(chosen.map((at) => scaled(pool[at])))
    const right = queries.map(scaled).map(({ row, label }) => {
      const scores = classify(row)
      return Number(scores.indexOf(Math.max(...scores)) === label)
    })
    return { right: average(right), covered: new Set(chosen.map((at) => pool[at].label)).size / classes }
  })
  return {
    score: average(found.map(({ right }) => right)),
    measures: { covered: average(found.map(({ covered }) => covered)) },
  }
}

const arm =
  (select: Select, labels = 2 * classes) =>
  (run: ArmRun): ArmResult =>
    accuracy(select, labels, run)

export default definePaper({
  id: 'active-context-labelling',
  title: 'Exploring Active Learning in Meta-Learning: Enhancing Context Set Labeling',
  theme: 'meta-rl',
  claim:
    'In a new task whose examples have no labels yet, labelling those nearest to the means of a Gaussian mixture serves a few-shot learner better than labelling at random, the most uncertain, or a k-centre cover.',
  // Nothing is tuned: no selection has a setting beside the number of labels.
  arms: {
    'gaussian-mixture': arm(mixture(true)),
    random: arm(atRandom),
    entropy: arm(entropy),
    'k-centre': arm(kCentre),
    // A simpler way to the same end, which the paper does not have.
    'k-means': arm(mixture(false)),
    'all-labelled': arm(atRandom, 12 * classes),
  },
  metric: 'accuracy on queries of new tasks with five classes, ten labels of a pool of 60, mean over tasks',
  pairing: 'seed',
  effect: { better: 'gaussian-mixture', than: ['random', 'entropy', 'k-centre'], atLeast: 0.02 },
  checks: [
    { about: 'labels at random miss classes', arm: 'random', of: 'covered', atMost: 0.95 },
    { about: 'the mixture finds most classes', arm: 'gaussian-mixture', of: 'covered', atLeast: 0.8 },
    { about: 'more labels would help', arm: 'random', of: 'score', atMost: 0.85 },
  ],
  control: { positive: { better: 'all-labelled', than: 'random', atLeast: 0.05 } },
  budget: { tasks: 20, trainingTasks: 20 },
  quick: { tasks: 2, trainingTasks: 2 },
  simplifications: [
    'meta-learning is that of a scale for each feature, in closed form over training tasks; the learner is that of prototypes alone',
    'classes are Gaussians in four features, and four further ones tell nothing, so that a mixture of Gaussians is of the right kind',
    'entropy is asked one label at a time, the others all at once',
  ],
})
