import { AgogeError } from '../../error.ts'
import { isEnvironmentFile } from '../../classic/training/environment-file.ts'
import { classicEnvironments } from '../../classic/environments/catalogue.ts'
import { hasTextTasks, readToolEnvironment, unknownEnvironment } from '../shared/environment-names.ts'
import { dashed, refuseChanges } from '../shared/resumed-options.ts'
import { runKind, runToResume } from '../shared/runs.ts'

/** Whether the command is about an environment over arrays of numbers. */
async function isArrayCommand(environment: string, resume?: string | true): Promise<boolean> {
  if (resume === undefined)
    return !hasTextTasks(environment) && (await readToolEnvironment(environment)) === undefined
  const folder = runToResume(resume)
  return folder !== undefined && ['array', 'seeds'].includes(runKind(folder) ?? '')
}

/**
 * Whether the command is one of classic RL; checks its options and the name of its environment first.
 *
 * @param typed what stands on the command line, without defaults.
 * @param own options of this command that mean nothing in classic RL.
 * @param named the environment, where one stands on the command line.
 * @throws AgogeError naming options that mean nothing there, or listing the environments of all kinds.
 */
export async function isClassicEnvironment(
  environment: string,
  typed: object,
  {
    resume,
    own = [],
    named,
  }: { resume?: string | true | undefined; own?: readonly string[]; named?: string | undefined } = {},
): Promise<boolean> {
  const isArray = await isArrayCommand(environment, resume)
  if (isArray && resume !== undefined) refuseChanges(runToResume(resume) ?? '', { typed, environment: named })
  else if (isArray) await requireClassicEnvironment(environment)
  const foreign = isArray ? [...languageOptions, ...own] : arrayOptions
  refuseOptions(resume === undefined ? environment : 'this run', typed, foreign)
  return isArray
}

/** Modules are read later. @throws AgogeError listing the classic environments, or those of all kinds where the name is of none. */
export async function requireClassicEnvironment(name: string): Promise<void> {
  if (Object.hasOwn(classicEnvironments, name)) return
  if (hasTextTasks(name) || (await readToolEnvironment(name)) !== undefined) {
    throw new AgogeError(`${name} has tasks in words, not arrays of numbers`, {
      code: 'unknown-environment',
      given: name,
      expected: `one of ${Object.keys(classicEnvironments).join(', ')}`,
      hint: `To watch a model there: agoge chat ${name}`,
    })
  }
  if (isEnvironmentFile(name)) return
  throw unknownEnvironment({ environment: name }, Object.keys(classicEnvironments))
}

/** Options that mean nothing for the environment are refused, not silently left out. */
function refuseOptions(environment: string, given: object, names: readonly string[]): void {
  const options = given as Readonly<Record<string, unknown>>
  const wrong = names.filter((name) => options[name] !== undefined)
  if (wrong.length === 0) return
  const typed = wrong.map(dashed)
  throw new AgogeError(`${typed.join(', ')} means nothing for ${environment}`, {
    code: 'bad-option',
    given: typed.join(' '),
    expected: 'options of this kind of environment',
    hint: 'agoge envs lists the classic environments; the others have tasks and tools',
  })
}

/** Options of language-model agents alone, and those of classic RL alone. */
const languageOptions = [
  'mcpConfig',
  'sandbox',
  'allow',
  'maxCalls',
  'callsPerSecond',
  'task',
  'difficulty',
  'yes',
  'tasks',
  'compareSupervised',
  'quick',
  'fromScratch',
  'temperature',
  'samplingWeights',
  'apiKeyEnv',
  'timeout',
  'threshold',
] as const
const arrayOptions = [
  'preset',
  'encoder',
  'bonus',
  'seeds',
  'numEnvs',
  'episodes',
  'vary',
  'visible',
  'context',
  'set',
] as const
