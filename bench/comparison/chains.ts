import { filesystemTasks } from 'agoge/llm'
import type { Task, TaskSource } from 'agoge/llm'

type FilesystemTask = ReturnType<typeof filesystemTasks.task>
type Tree = FilesystemTask['start']

const calls = [4, 5, 6, 7, 8]

/** One request of four to eight calls, as the kind says: make a folder and move three to seven files into it. */
export const chainTasks: TaskSource<FilesystemTask> = {
  kinds: calls.map((count) => `${count} calls`),
  task({ split, seed, kind = `${calls[seed % calls.length]} calls` }) {
    const wanted = Number.parseInt(kind)
    for (let attempt = 0; ; attempt++) {
      const drawn = drawParts(split, seed, wanted - 1, attempt)
      if (drawn !== undefined) return joined(drawn, { split, seed, kind })
    }
  },
}

/** Tasks of the kind `gather` whose sandboxes share no name and together list enough files; undefined if this attempt does not. */
function drawParts(
  split: Task['split'],
  seed: number,
  files: number,
  attempt: number,
): FilesystemTask[] | undefined {
  const drawn: FilesystemTask[] = []
  for (let at = 0, listed = 0; at < 20; at++) {
    // Far from the seeds that other sources draw, and the same for no two parts.
    const key = ((seed % 5_000_000) * 4001 + attempt * 20 + at) % 2_000_000_000
    const task = filesystemTasks.task({ split, seed: key, kind: 'gather' })
    if (drawn.some((other) => sharesName(other, task))) continue
    drawn.push(task)
    listed += listedFiles(task).length
    if (listed >= files) return drawn
  }
  return undefined
}

const pathsOf = ({ folders, files }: Tree): string[] => [...folders, ...Object.keys(files)]

function namesOf({ start, goal }: FilesystemTask): Set<string> {
  const paths = [...pathsOf(start), ...pathsOf(goal)]
  return new Set(paths.flatMap((path) => path.split('/').filter((name) => name !== '')))
}

function sharesName(a: FilesystemTask, b: FilesystemTask): boolean {
  const names = namesOf(a)
  return [...namesOf(b)].some((name) => names.has(name))
}

/** The files that a `gather` task moves, in the order of its prompt. */
function listedFiles({ start, goal, prompt }: FilesystemTask): string[] {
  const moved = Object.keys(start.files).filter((file) => !(file in goal.files))
  return moved.sort((a, b) => prompt.indexOf(a) - prompt.indexOf(b))
}

const inWords = (files: readonly string[]): string =>
  `${files.slice(0, -1).join(', ')} and ${files[files.length - 1]}`

/** The request of the first task, with files of all. */
function joined(
  drawn: readonly FilesystemTask[],
  { split, seed, kind }: Pick<Task, 'split' | 'seed' | 'kind'>,
): FilesystemTask {
  const wanted = Number.parseInt(kind)
  const [first] = drawn
  const files = drawn.flatMap(listedFiles).slice(0, wanted - 1)
  const [folder] = first.goal.folders.filter((path) => !first.start.folders.includes(path))
  const start: Tree = {
    folders: drawn.flatMap((task) => task.start.folders),
    files: Object.assign({}, ...drawn.map((task) => task.start.files)) as Tree['files'],
  }
  const moves = files.map((source) => ({
    source,
    destination: `${folder}/${source.slice(source.lastIndexOf('/') + 1)}`,
  }))
  const left = Object.entries(start.files).filter(([file]) => !files.includes(file))
  const there = moves.map(({ source, destination }) => [destination, start.files[source]] as const)
  const goal: Tree = {
    folders: [...start.folders, folder],
    files: Object.fromEntries([...left, ...there]),
  }
  const plan = [
    { name: 'create_directory', arguments: { path: folder } },
    ...moves.map((move) => ({ name: 'move_file', arguments: move })),
  ]
  return {
    id: `chains/${split}/${kind}/${seed}`,
    kind,
    seed,
    split,
    prompt: first.prompt.replace(inWords(listedFiles(first)), inWords(files)),
    ...(first.template !== undefined && { template: first.template }),
    difficulty: wanted,
    context: { files: files.length, tools: plan.map(({ name }) => name) },
    start,
    goal,
    answer: { kind: 'any' },
    plan: ({ length: done }) => (done < plan.length ? { call: plan[done] } : { answer: 'done' }),
  }
}
