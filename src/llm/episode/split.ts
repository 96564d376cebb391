/** The name that earlier versions gave to the split `unseen-paraphrase`. */
const earlierName = 'unseen-wording'

/**
 * The name of today for a split, or for a phase or stage that is named after it. Earlier versions wrote `unseen-wording`
 * into the state of runs and into task files. Any other value is returned as it is.
 *
 * @example
 * currentSplit('unseen-wording') // 'unseen-paraphrase'
 */
export const currentSplit = <T>(name: T): T | 'unseen-paraphrase' =>
  name === earlierName ? 'unseen-paraphrase' : name

/** The id of today for a task that an earlier version named, so that episodes of both can be paired by task. */
export const currentTaskId = (id: string): string => id.replace(`/${earlierName}/`, '/unseen-paraphrase/')

/**
 * The key of a split in random streams. `unseen-paraphrase` keeps its earlier name there, so that its tasks stay the same bit
 * for bit.
 */
export const splitKey = (split: string): string => (split === 'unseen-paraphrase' ? earlierName : split)
