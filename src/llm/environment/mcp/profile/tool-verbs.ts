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
