import { filesystemTasks } from 'agoge/llm'
import type { Task, TaskSource } from 'agoge/llm'

type FilesystemTask = ReturnType<typeof filesystemTasks.task>

/** Kinds whose success depends on the state alone, with a plan that does not search: chains of them need no answer. */
const parts = ['move', 'rename', 'make-folder', 'write', 'edit', 'copy', 'folder-then-write', 'gather']
const calls = [4, 5, 6, 7, 8]

/** A plan's number of calls, as `context.tools` lists them. */
const callsOf = ({ context }: Task): number => (context['tools'] as string[]).length

/** Several requests in one, on one sandbox. The kind says how many calls they take: four to eight. */
export const chainTasks: TaskSource<FilesystemTask> = {
  kinds: calls.map((count) => `${count} calls`),
  task({ split, seed, kind = `${calls[seed % calls.length]} calls` }) {
    const wanted = Number.parseInt(kind)
    for (let attempt = 0; ; attempt++) {
      const drawn = drawParts(split, seed, wanted, attempt)
      if (drawn !== undefined) return joined(drawn, { split, seed, kind })
    }
  },
}

/** Tasks of single requests whose sandboxes share no name and whose calls add up; undefined if this attempt does not. */
function drawParts(
  split: Task['split'],
  seed: number,
  wanted: number,
  attempt: number,
): FilesystemTask[] | undefined {
  const drawn: FilesystemTask[] = []
  let left = wanted
  for (let at = 0; left > 0 && at < 20; at++) {
    // Far from the seeds that other sources draw, and the same for no two parts.
    const key = ((seed % 5_000_000) * 4001 + attempt * 20 + at) % 2_000_000_000
    const task = filesystemTasks.task({ split, seed: key, kind: parts[hash(key) % parts.length] })
    if (callsOf(task) > left || drawn.some((other) => sharesName(other, task))) continue
    drawn.push(task)
    left -= callsOf(task)
  }
  return left === 0 && drawn.length >= 2 ? drawn : undefined
}

/** Mixes the bits of a number, so that neighbours differ. */
function hash(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x45d9f3b)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

function namesOf({ start, goal }: FilesystemTask): Set<string> {
  const paths = [start, goal].flatMap(({ folders, files }) => [...folders, ...Object.keys(files)])
  return new Set(paths.flatMap((path) => path.split('/').filter((name) => name !== '')))
}

function sharesName(a: FilesystemTask, b: FilesystemTask): boolean {
  const names = namesOf(a)
  return [...namesOf(b)].some((name) => names.has(name))
}

function joined(
  drawn: readonly FilesystemTask[],
  { split, seed, kind }: Pick<Task, 'split' | 'seed' | 'kind'>,
): FilesystemTask {
  const tree = (which: 'start' | 'goal'): FilesystemTask['start'] => ({
    folders: drawn.flatMap((task) => task[which].folders),
    files: Object.assign({}, ...drawn.map((task) => task[which].files)) as Record<string, string>,
  })
  const text = (texts: readonly string[]): string =>
    texts.map((one) => one.replace(/[.!?]$/, '')).join('. Then: ')
  return {
    id: `chains/${split}/${kind}/${seed}`,
    kind,
    seed,
    split,
    prompt: text(drawn.map(({ prompt }) => prompt)),
    template: text(drawn.map(({ template, prompt }) => template ?? prompt)),
    difficulty: Number.parseInt(kind),
    context: {
      parts: drawn.map(({ kind }) => kind),
      tools: drawn.flatMap(({ context }) => context['tools'] as string[]),
    },
    start: tree('start'),
    goal: tree('goal'),
    answer: { kind: 'any' },
    plan(results) {
      let done = 0
      for (const task of drawn) {
        const move = task.plan(results.slice(done, done + callsOf(task)))
        if ('call' in move) return move
        done += callsOf(task)
      }
      return { answer: 'done' }
    },
  }
}
