import { existsSync, statSync } from 'node:fs'
import { availableParallelism, freemem, totalmem } from 'node:os'
import { join } from 'node:path'
import { compile, matmul } from '../engine/tensor/index.ts'
import { listServers, resolveServer } from '../llm/tool/server-config.ts'
import { filesystemServer } from '../llm/environment/filesystem/environment.ts'
import { baseModelFolder } from '../llm/checkpoint/checkpoint.ts'
import { checkFolder } from '../runs/files.ts'
import type { Console } from './shared/console.ts'

/** Result of one check. `warn` costs speed or an optional feature; with `fail` training does not work. */
export interface Finding {
  name: string
  level: 'ok' | 'warn' | 'fail'
  text: string
  repair?: string
}

const leastNode = [20, 19]
const leastMemory = 1.5 * 2 ** 30

/** `agoge doctor`: checks what training needs and says how to repair it. Returns the exit code. */
export async function runDoctor(terminal: Console): Promise<number> {
  const findings = [
    checkNode(),
    await checkEngine(),
    ...checkMachine(),
    checkBaseModel(),
    ...checkServers(),
    checkRunFolder(),
  ]
  const width = Math.max(...findings.map(({ name }) => name.length))
  for (const { name, level, text, repair } of findings) {
    terminal.out(`${level.padEnd(4)}  ${name.padEnd(width)}  ${text}`)
    if (repair !== undefined) terminal.out(`      ${' '.repeat(width)}  → ${repair}`)
  }
  return findings.some(({ level }) => level === 'fail') ? 1 : 0
}

/** Compares Node's version with the oldest supported one. */
export function checkNode(version: string = process.versions.node): Finding {
  const [major, minor] = version.split('.').map(Number)
  const fits = major > leastNode[0] || (major === leastNode[0] && minor >= leastNode[1])
  const text = `${version} (needed: ${leastNode.join('.')} or newer)`
  return fits
    ? { name: 'Node', level: 'ok', text }
    : { name: 'Node', level: 'fail', text, repair: 'install Node 22 or 24' }
}

async function checkEngine(): Promise<Finding> {
  const name = 'ONNX Runtime'
  const size = 512
  try {
    const program = await compile(
      { a: { shape: [size, size] }, b: { shape: [size, size] } },
      ({ a, b }) => ({ product: matmul(a, b) }),
      { name: 'doctor' },
    )
    const square = { data: new Float32Array(size * size).fill(1 / size), shape: [size, size] }
    let best = Infinity
    for (let i = 0; i < 12; i++) {
      const started = performance.now()
      const { product } = await program.run({ a: square, b: square })
      best = Math.min(best, performance.now() - started)
      // Each element is 512 times (1/512 squared).
      if (Math.abs(product.data[7] - 1 / size) > 1e-6)
        throw new Error(`a matrix product is wrong: ${product.data[7]}`)
    }
    await program.release()
    const speed = (2 * size ** 3) / (best * 1e6)
    return { name, level: 'ok', text: `works; ${size}x${size} matrix product at ${speed.toFixed(0)} GFLOP/s` }
  } catch (error) {
    const repair = 'npm install onnxruntime-node --ignore-scripts'
    return { name, level: 'fail', text: error instanceof Error ? error.message : String(error), repair }
  }
}

function checkMachine(): Finding[] {
  const cores = availableParallelism()
  const memory = totalmem()
  const free = `${(memory / 2 ** 30).toFixed(1)} GiB, ${(freemem() / 2 ** 30).toFixed(1)} free`
  return [
    cores >= 2
      ? { name: 'cores', level: 'ok', text: String(cores) }
      : { name: 'cores', level: 'warn', text: '1', repair: 'training works, at about half the speed' },
    memory >= leastMemory
      ? { name: 'memory', level: 'ok', text: free }
      : {
          name: 'memory',
          level: 'warn',
          text: free,
          repair: 'close other programs: training takes up to 1.5 GiB',
        },
  ]
}

function checkBaseModel(): Finding {
  const file = join(baseModelFolder, 'model.safetensors')
  const name = 'base model'
  if (existsSync(file))
    return { name, level: 'ok', text: `${baseModelFolder}, ${(statSync(file).size / 1e6).toFixed(1)} MB` }
  return {
    name,
    level: 'fail',
    text: `missing in ${baseModelFolder}`,
    repair: `agoge pretrain --out ${baseModelFolder}`,
  }
}

function checkServers(): Finding[] {
  const { source, version } = resolveServer(filesystemServer)
  const name = 'filesystem server'
  const text = `${filesystemServer.package} ${version}`
  const embedded: Finding =
    source === 'installed'
      ? { name, level: 'ok', text }
      : {
          name,
          level: 'warn',
          text: `${text} is not installed`,
          repair: 'npx fetches it at the first use, which needs the network once',
        }
  return [embedded, configuredServers()]
}

function configuredServers(): Finding {
  const name = 'configured servers'
  try {
    const { file, names } = listServers()
    const text =
      file === undefined
        ? 'no .mcp.json here'
        : `${names.map((server) => `mcp:${server}`).join(', ')} (${file})`
    return { name, level: 'ok', text }
  } catch (error) {
    return {
      name,
      level: 'warn',
      text: error instanceof Error ? error.message : String(error),
      repair: 'mend that file',
    }
  }
}

function checkRunFolder(): Finding {
  const folder = join('.agoge', 'runs')
  const name = 'run folder'
  try {
    checkFolder(folder)
    return { name, level: 'ok', text: `${folder} can be written` }
  } catch (error) {
    const repair = 'change to a folder that you may write to, or name one with --out'
    return { name, level: 'fail', text: error instanceof Error ? error.message : String(error), repair }
  }
}
