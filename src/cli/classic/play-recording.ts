import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { animatePng, animateSvg, drawEnv, renderSvg } from '../../classic/environment/index.ts'
import type { Drawing } from '../../classic/environment/index.ts'
import { AgogeError } from '../../error.ts'
import { checkFile, checkFolder, writeWhole } from '../../runs/files.ts'
import type { Console } from '../shared/console.ts'
import type { Frames } from './play-screen.ts'

/**
 * Writes frames to `path`: one animated image if it ends in .svg or .png, otherwise a folder of SVG images. Ctrl-C
 * keeps the frames written so far.
 *
 * @throws AgogeError for other file endings, and for paths that cannot be written.
 */
export function createRecording(
  path: string,
  { out }: Console,
  { fps, every = 1 }: { fps: number; every?: number },
): Frames {
  const ending = /\.\w+$/.exec(path)?.[0].toLowerCase()
  if (ending !== undefined && ending !== '.svg' && ending !== '.png') {
    throw new AgogeError(`Frames cannot be written as ${ending}`, {
      code: 'bad-option',
      given: path,
      expected: 'a file.svg or file.png (both animated), or a folder for one SVG image a frame',
      ...(ending === '.gif' || ending === '.apng'
        ? { hint: 'an animated PNG is shown wherever a GIF is' }
        : {}),
    })
  }
  if (ending === undefined) checkFrames(path)
  else checkFile(path)
  const drawings: Drawing[] = []

  return {
    every,
    show(environment) {
      drawings.push(drawEnv(environment))
    },
    keep: out,
    async close() {
      if (drawings.length === 0) return
      if (ending === '.png') writeWhole(path, await animatePng(drawings, { framesPerSecond: fps }))
      else if (ending === '.svg') writeWhole(path, animateSvg(drawings, { framesPerSecond: fps }))
      else
        for (const [k, drawing] of drawings.entries())
          writeWhole(join(path, frameName(k)), renderSvg(drawing))
      out(`${path}: ${drawings.length} frames`)
    },
  }
}

const frameName = (k: number): string => `frame-${String(k).padStart(5, '0')}.svg`

/** Removes frames of an earlier recording, which would mix with the new ones. */
function checkFrames(path: string): void {
  if (existsSync(join(path, frameName(0)))) {
    throw new AgogeError(`${path} already holds frames`, {
      code: 'folder-not-empty',
      given: resolve(path),
      expected: 'a folder without frames, or a new one',
      hint: 'Choose another folder, or remove the frames',
    })
  }
  checkFolder(resolve(path))
}
