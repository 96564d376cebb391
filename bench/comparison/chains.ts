import { filesystemTasks } from 'agoge/llm'
import type { Task, TaskSource } from 'agoge/llm'

type FilesystemTask = ReturnType<typeof filesystemTasks.task>

const calls = [4, 5, 6, 7, 8]

/** One request of four to eight calls, as the kind says: make that many folders. Short calls, so that a budget has many episodes. */
export const chainTasks: TaskSource<FilesystemTask> = {
  kinds: calls.map((count) => `${count} calls`),
  task({ split, seed, kind = `${calls[seed % calls.length]} calls` }) {
    const wanted = Number.parseInt(kind)
    // Far from the seeds that other sources draw, and the same for no two tasks.
    const single = singleRequests(split, ((seed % 5_000_000) * 4001) % 2_000_000_000)
    const first = single.next().value
    const { folders } = first.start
    const [path] = newFolders(first)
    const used = new Set(
      [...folders, ...Object.keys(first.start.files), path].flatMap((each) => each.split('/')),
    )
    const paths = [path]
    while (paths.length < wanted) {
      const { seed: drawn, ...next } = single.next().value
      const name = newFolders(next)[0].split('/').at(-1)!
      if (used.has(name)) continue
      used.add(name)
      paths.push(`${folders[hash(drawn) % folders.length]}/${name}`)
    }
    return joined(first, paths, { split, seed, kind })
  },
}

/** Requests for one new folder that say its whole path, one after another. */
function* singleRequests(split: Task['split'], from: number): Generator<FilesystemTask, never> {
  for (let seed = from; ; seed++) {
    const task = filesystemTasks.task({ split, seed, kind: 'make-folder' })
    if (task.template?.includes('<folder>')) yield task
  }
}

const newFolders = ({ start, goal }: Pick<FilesystemTask, 'start' | 'goal'>): string[] =>
  goal.folders.filter((path) => !start.folders.includes(path))

/** Mixes the bits of a number, so that neighbours differ. */
function hash(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x45d9f3b)
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x45d9f3b)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** The request of the first task, for all the folders. */
function joined(
  first: FilesystemTask,
  paths: readonly string[],
  { split, seed, kind }: Pick<Task, 'split' | 'seed' | 'kind'>,
): FilesystemTask {
  const list = `${paths.slice(0, -1).join(', ')} and ${paths.at(-1)}`
  return {
    ...first,
    id: `chains/${split}/${kind}/${seed}`,
    kind,
    seed,
    split,
    prompt: first.prompt.replace(paths[0], list),
    difficulty: paths.length,
    context: { tools: paths.map(() => 'create_directory') },
    goal: { ...first.start, folders: [...first.start.folders, ...paths] },
    plan: ({ length: done }) =>
      done < paths.length
        ? { call: { name: 'create_directory', arguments: { path: paths[done] } } }
        : { answer: 'done' },
  }
}
