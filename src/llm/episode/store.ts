import { appendLines, readLines } from '../../runs/files.ts'
import { decodeEpisode, encodeEpisode } from './codec.ts'
import type { Episode } from './types.ts'

/** Appends episodes to a JSONL file, one write for the batch. A line torn by an earlier kill is cut off first. */
export function appendEpisodes(path: string, episodes: readonly Episode[]): void {
  appendLines(path, episodes.map(encodeEpisode))
}

/**
 * Reads all episodes of a JSONL file. A last line without its newline (the process was killed while writing) is
 * dropped; a damaged line anywhere else is an error that names it.
 */
export function readEpisodes(path: string): Episode[] {
  return readLines(path).map((line, at) => decodeEpisode(line, `${path}:${at + 1}`))
}
