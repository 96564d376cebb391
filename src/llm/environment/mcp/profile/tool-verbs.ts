import { spoken } from '../arguments/words.ts'

const readingVerbs = new Set('list get read show search find describe count status view fetch'.split(' '))

/** Whether the name of a tool says that it reads. */
export function soundsReading(name: string): boolean {
  return spoken(name).some((word) => readingVerbs.has(word.toLowerCase()))
}

/** Verbs of tools that change something. A tool of unknown effect with such a name is not used to look at the state. */
const changingVerbs: ReadonlySet<string> = new Set(
  'add append apply archive assign cancel clean clear close commit complete copy create delete destroy disable drop edit empty enable erase execute flush import insert kill make merge move open patch pop post publish purge push put remove rename reset restart restore run save send set start stop submit switch toggle truncate undo unset update upload upsert wipe write'.split(
    ' ',
  ),
)

/** Whether the name of a tool has a verb of change. */
export function soundsChanging(name: string): boolean {
  return spoken(name).some((word) => changingVerbs.has(word.toLowerCase()))
}

/** Verbs of an action that changes something. Those of arithmetic, such as `add`, may as well compute. */
const changingActions: ReadonlySet<string> = new Set(
  'alter create delete destroy disable drop enable erase grant insert remove rename revoke truncate update upsert'.split(
    ' ',
  ),
)

/** Whether an argument chooses the action of a call: `operation` of a tool that manages users. */
export const choosesAction = (argument: string): boolean =>
  /^(?:operation|action|command|method)$/i.test(argument)

/** Whether an action, as such an argument names it, is one that only reads or one that changes something; else undefined. */
export function effectOfAction(action: string): 'reads' | 'changes' | undefined {
  const [verb = ''] = spoken(action)
  return changingActions.has(verb) ? 'changes' : readingVerbs.has(verb) ? 'reads' : undefined
}
