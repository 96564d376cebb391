import type { Transferable, Worker } from 'node:worker_threads'

/**
 * Starts a thread with the module that lies beside `from` (an `import.meta.url`). From sources, threads need a loader of their
 * own: Node 20 gives them none.
 *
 * @param Thread the platform's class, which is handed in since this file is for browsers too
 * @param name of the module, without its ending
 */
export function startThread(
  Thread: typeof Worker,
  from: string,
  name: string,
  workerData: unknown,
  transferList: Transferable[] = [],
): Worker {
  const given = { workerData, transferList }
  // Without the loaders of whoever started this program.
  if (!from.endsWith('.ts')) return new Thread(new URL(`./${name}.js`, from), { ...given, execArgv: [] })
  const [loader, script] = [import.meta.resolve('tsx/esm/api'), new URL(`./${name}.ts`, from).href].map(
    (url) => JSON.stringify(url),
  )
  const code = `import(${loader}).then(({ register }) => { register(); return import(${script}) })`
  return new Thread(code, { eval: true, execArgv: ['--conditions', 'agoge-source'], ...given })
}
