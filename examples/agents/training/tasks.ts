// Tasks in words, of two kinds that the small base model solves only sometimes. Each is another one; the same seed gives the same tasks.
import { createRandom } from 'agoge/engine'

interface ExampleTask {
  id: string
  kind: 'count' | 'replace'
  prompt: string
  expected: { answer: string | number }
}

const words =
  'lamp paper river copper maple stone piano wagon coral amber bread Lima Oslo Cairo Vienna Quito'.split(' ')

/** So many tasks, all different. `agoge train` splits them into tasks for training, validation and test. */
export function makeTasks(count: number, seed = 1): ExampleTask[] {
  const tasks = new Map<string, ExampleTask>()
  for (let at = 0; tasks.size < count; at++) {
    const random = createRandom(seed, 'task', at)
    const shown = random.shuffle(words)
    const kind = at % 2 === 0 ? 'count' : 'replace'
    const task = kind === 'count' ? counting(shown, 2 + random.int(4)) : replacing(shown, 2 + random.int(2))
    tasks.set(task.prompt, { id: `${kind}-${at}`, kind, ...task })
  }
  return [...tasks.values()]
}

function counting(shown: readonly string[], count: number): Pick<ExampleTask, 'prompt' | 'expected'> {
  return { prompt: `how many names here: ${shown.slice(0, count).join(', ')}`, expected: { answer: count } }
}

function replacing(
  [old, next, ...others]: readonly string[],
  count: number,
): Pick<ExampleTask, 'prompt' | 'expected'> {
  const text = [...others.slice(0, count - 1), old]
  const answer = text.map((word) => (word === old ? next : word)).join(' ')
  return { prompt: `use ${next} for ${old}: ${text.join(' ')}`, expected: { answer } }
}
